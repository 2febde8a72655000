// A stand-in for the stream header of Vitis HLS, for simulation in C++: a queue without limit.  Reading an empty stream
// ends the program, as a circuit would hang; what is left over at the end is a mistake, too.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <deque>

namespace hls {
template <typename T>
class stream {
 public:
  stream() = default;
  stream(const stream &) = delete;
  ~stream() {
    if (!items_.empty()) fail("elements are left in a stream");
  }
  void write(const T &value) { items_.push_back(value); }
  T read() {
    if (items_.empty()) fail("an empty stream is read");
    T value = items_.front();
    items_.pop_front();
    return value;
  }
  bool empty() const { return items_.empty(); }

 private:
  static void fail(const char *text) {
    std::fprintf(stderr, "%s\n", text);
    std::abort();
  }
  std::deque<T> items_;
};
}  // namespace hls
