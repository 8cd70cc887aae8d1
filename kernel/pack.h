// Rows of adjacent values as bits: what is 1, and what is neither 0 nor 1.
#pragma once

#include <cstdint>

#include "view.h"

namespace thetatree {

// Packs rows [begin, end) of n adjacent columns of the type, whose first value stands at data + row * stride, into
// out + row * width; the first column is the lowest bit. Columns that hold anything but 0 and 1 are marked in `other`,
// a bit each. All addresses are aligned to the type.
void pack_rows(Type type, const char* data, int64_t stride, int64_t begin, int64_t end, int64_t n, uint64_t* out,
               int64_t width, uint64_t* other);

}  // namespace thetatree
