// Rows of bits, one for each key, and how often each column's bit is set among some of them.
#pragma once

#include <cstdint>

namespace thetatree {

// Adds to counts[column] the number of the n rows that have the column's bit. A row is n_words words; counts has
// room for 64 columns a word.
void add_bits(const uint64_t* rows, int64_t n_words, const uint32_t* keys, int64_t n, int32_t* counts);

}  // namespace thetatree
