/* CUDA on a processor, for tests: the threads of a block are fibers that take turns, from barrier to barrier; blocks run
   one after the other.  What the text of a kernel does with indices, barriers and shared memory is executed as written. */
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <vector>
using std::remainder; using std::fmod; using std::hypot; using std::nextafter; using std::cbrt; using std::trunc;
using std::rint; using std::copysign; using std::ldexp; using std::frexp; using std::erf; using std::erfc;
#define __global__
#define __device__
#define __shared__ static
#define __restrict__ __restrict
struct float2 { float x, y; }; struct double2 { double x, y; };
static inline float2 make_float2(float x, float y) { return float2{x, y}; }
static inline double2 make_double2(double x, double y) { return double2{x, y}; }
template <class T> static inline T atomicAdd(T *p, T v) { T old = *p; *p = old + v; return old; }
/* A variable in shared memory that counts how often it is read and written, where a test asks for that. */
static long k_counts[2];
template <class T> struct k_counted {
  T value;
  operator T() const { k_counts[0]++; return value; }
  k_counted &operator=(T v) { k_counts[1]++; value = v; return *this; }
  k_counted &operator=(const k_counted &o) { return *this = (T)o; }
};
struct k_three { unsigned x, y, z; };
static k_three threadIdx, blockIdx, blockDim, gridDim;
static inline double __longlong_as_double(long long w) { double d; std::memcpy(&d, &w, 8); return d; }
static inline float __int_as_float(int w) { float f; std::memcpy(&f, &w, 4); return f; }
static inline int __popcll(unsigned long long x) { int n = 0; for (; x; x &= x - 1) n++; return n; }
static inline long long __mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }

struct k_fiber { ucontext_t context; std::vector<char> stack; k_three thread; bool done; };
static ucontext_t k_scheduler;
static k_fiber *k_running;
static void (*k_kernel)(void **);
static void **k_arguments;
static long k_waits;  /* barriers that fibers of this block stand at */

static void __syncthreads() { k_waits++; swapcontext(&k_running->context, &k_scheduler); }
static void k_start() { k_kernel(k_arguments); k_running->done = true; swapcontext(&k_running->context, &k_scheduler); }

/* 0, or 1 if only some threads of a block came to a barrier: undefined on a device. */
static int k_launch(void (*kernel)(void **), void **arguments, const unsigned *grid, const unsigned *block) {
  gridDim = {grid[0], grid[1], grid[2]}; blockDim = {block[0], block[1], block[2]};
  k_kernel = kernel; k_arguments = arguments;
  const unsigned count = block[0] * block[1] * block[2];
  std::vector<k_fiber> fibers(count);
  for (k_fiber &fiber : fibers) fiber.stack.resize(1 << 16);
  for (unsigned z = 0; z < grid[2]; z++) for (unsigned y = 0; y < grid[1]; y++) for (unsigned x = 0; x < grid[0]; x++) {
    blockIdx = {x, y, z};
    for (unsigned n = 0; n < count; n++) {
      k_fiber &fiber = fibers[n];
      fiber.thread = {n % block[0], n / block[0] % block[1], n / block[0] / block[1]};
      fiber.done = false;
      getcontext(&fiber.context);
      fiber.context.uc_stack.ss_sp = fiber.stack.data();
      fiber.context.uc_stack.ss_size = fiber.stack.size();
      fiber.context.uc_link = nullptr;
      makecontext(&fiber.context, k_start, 0);
    }
    for (unsigned left = count; left;) {
      unsigned ended = 0;
      k_waits = 0;
      for (k_fiber &fiber : fibers) {
        if (fiber.done) continue;
        k_running = &fiber; threadIdx = fiber.thread;
        swapcontext(&k_scheduler, &fiber.context);
        ended += fiber.done;
      }
      if (ended && k_waits) return 1;
      left -= ended;
    }
  }
  return 0;
}
