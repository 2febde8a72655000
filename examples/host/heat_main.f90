! Calls the library that `weft build --host c heat.py` makes. An array of extents (n, m) here has extents (m, n) there.
!
!   gfortran include/heat.f90 heat_main.f90 -Llib -lheat -o heat

program main
  use, intrinsic :: iso_c_binding
  use heat
  implicit none
  real(c_double), target :: field(8, 6), values(4), padded(6)
  real(c_double), pointer :: elements(:, :)
  real(c_double) :: least, greatest
  type(weft_f64_2) :: warm
  type(weft_error) :: error
  integer(c_int) :: status

  field = 0.0_c_double
  field(5, 4) = 100.0_c_double
  status = heat_diffuse(weft_over(field), 0.1_c_double, 10_c_int64_t, warm, error)
  if (status /= weft_ok) stop 1
  status = heat_extremes(warm, least, greatest, error)
  call weft_pointer(warm, elements)
  print '(a, 3(1x, f0.6))', 'diffuse', elements(5, 4), least, greatest
  call heat_release(warm)

  padded = [1, 2, 4, 8, 16, 32]
  status = heat_smooth(weft_over(values), weft_over(padded), error)
  print '(a, 4(1x, f0.3))', 'smooth', values
  status = heat_smooth(weft_over(values), weft_over(padded(1:5)), error)
  print '(a, 1x, l1, 1x, a)', 'error', status == weft_extent, weft_message(error)
  status = heat_integral(c_funloc(cube), 0.0_c_double, 2.0_c_double, 1000_c_int64_t, least, error)
  print '(a, 1x, f0.4)', 'integral', least

contains

  real(c_double) function cube(x) bind(c)
    real(c_double), value :: x
    cube = x**3
  end function
end program
