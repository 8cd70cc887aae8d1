// Codes of categories as a caller holds them: whole numbers of any type, a negative one where the value is missing.
#pragma once

#include <cstdint>
#include <vector>

#include "view.h"

namespace thetatree {

// By label: 1 if its code occurs.
std::vector<uint8_t> codes_present(const View& codes, int64_t n, int64_t n_labels);

// What `to` has for each code; its last entry is for missing values.
std::vector<int32_t> translate_codes(const View& codes, int64_t n, const std::vector<int32_t>& to);

}  // namespace thetatree
