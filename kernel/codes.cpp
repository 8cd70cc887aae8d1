#include "codes.h"

#include <stdexcept>

#include "interrupt.h"

namespace thetatree {
namespace {

// Calls body(row, place) with the code's place among n_labels, or n_labels itself for a missing value.
template <class Body>
void for_each_code(const View& codes, int64_t n, int64_t n_labels, Body&& body) {
  with_type(codes.type, [&]<class T>() {
    for (int64_t i = 0; i < n; ++i) {
      poll_at(i);
      const auto code = static_cast<int64_t>(codes.at<T>(i));
      if (code >= n_labels) throw std::invalid_argument("a code that stands for no label");
      body(i, code < 0 ? n_labels : code);
    }
  });
}

}  // namespace

std::vector<uint8_t> codes_present(const View& codes, int64_t n, int64_t n_labels) {
  std::vector<uint8_t> present(n_labels + 1);
  for_each_code(codes, n, n_labels, [&](int64_t, int64_t place) { present[place] = 1; });
  present.pop_back();
  return present;
}

std::vector<int32_t> translate_codes(const View& codes, int64_t n, const std::vector<int32_t>& to) {
  std::vector<int32_t> out(n);
  for_each_code(codes, n, static_cast<int64_t>(to.size()) - 1, [&](int64_t i, int64_t place) { out[i] = to[place]; });
  return out;
}

}  // namespace thetatree
