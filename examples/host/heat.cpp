// Calls the library that `weft build --host cpp heat.py` makes: spans in, arrays that free themselves out, exceptions.
//
//   c++ -std=c++17 heat.cpp $(pkg-config --cflags --libs heat) -o heat

#include "heat.hpp"

#include <cstdio>
#include <vector>

int main()
{
    std::vector<double> field(6 * 8, 0.0);
    field[3 * 8 + 4] = 100.0;
    auto warm = heat::diffuse({field, {6, 8}}, 0.1, 10);
    auto [least, greatest] = heat::extremes(warm);
    std::printf("diffuse %.12g %.12g %.12g\n", warm(3, 4), least, greatest);

    std::vector<double> values(4);
    const std::vector<double> padded = {1, 2, 4, 8, 16, 32};
    heat::smooth(values, padded);
    std::printf("smooth %g %g %g %g\n", values[0], values[1], values[2], values[3]);

    try {
        heat::smooth(values, values); // the hint says N + 2
    } catch (const weft::error &problem) {
        std::printf("error %d\n", problem.code() == WEFT_EXTENT);
    }
    try {
        heat::extremes({field, {0, 8}});
    } catch (const weft::error &problem) {
        std::printf("raised %s line %d: %s\n", problem.exception().c_str(), problem.line(), problem.what());
    }
    std::printf("integral %.4f\n", heat::integral([](double x) { return x * x * x; }, 0.0, 2.0, 1000));
    return 0;
}
