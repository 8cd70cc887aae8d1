// Sketches as text: base64 or hexadecimal cells back to bytes.
#include <array>

#include "interrupt.h"
#include "theta_wire.h"

namespace thetatree {
namespace {

constexpr std::uint8_t kBad = 0xff;
constexpr std::uint8_t kBreak = 0xfe;  // a line break, which MIME encoders put in

constexpr std::array<std::uint8_t, 256> base64_table() {
  std::array<std::uint8_t, 256> table{};
  table.fill(kBad);
  const char* const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (int i = 0; i < 64; ++i) {
    table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  }
  table['-'] = 62;
  table['_'] = 63;
  table['\n'] = kBreak;
  table['\r'] = kBreak;
  return table;
}

constexpr std::array<std::uint8_t, 256> hex_table() {
  std::array<std::uint8_t, 256> table{};
  table.fill(kBad);
  for (int i = 0; i < 16; ++i) {
    table[static_cast<unsigned char>("0123456789abcdef"[i])] = static_cast<std::uint8_t>(i);
    table[static_cast<unsigned char>("0123456789ABCDEF"[i])] = static_cast<std::uint8_t>(i);
  }
  return table;
}

constexpr auto kBase64 = base64_table();
constexpr auto kHex = hex_table();

struct Cell {
  const std::uint8_t* text;
  std::size_t size;
  std::int64_t index;
  std::size_t skipped = 0;  // blanks in front

  [[noreturn]] void fail(std::size_t at, const std::string& what) const {
    throw WireError{index, static_cast<std::int64_t>(skipped + at), what};
  }
  std::string shown(std::size_t at) const {
    const std::uint8_t c = text[at];
    return c >= 32 && c < 127 ? std::string("'") + static_cast<char>(c) + "'" : "byte " + std::to_string(c);
  }
};

std::uint8_t* decode_hex(const Cell& cell, std::size_t at, std::uint8_t* out) {
  if ((cell.size - at) % 2 != 0) {
    cell.fail(cell.size, "an odd number of hexadecimal digits (" + std::to_string(cell.size - at) +
                             "); export the column again without cutting cells");
  }
  for (; at < cell.size; at += 2) {
    const std::uint8_t high = kHex[cell.text[at]];
    const std::uint8_t low = kHex[cell.text[at + 1]];
    if ((high | low) > 15) {
      const std::size_t bad = high > 15 ? at : at + 1;
      cell.fail(bad, cell.shown(bad) + " is not a hexadecimal digit; write the sketch in hexadecimal or base64");
    }
    *out++ = static_cast<std::uint8_t>(high << 4 | low);
  }
  return out;
}

// Four characters at a time while they are plain; false at the first that is not.
bool decode_quad(const std::uint8_t* text, std::uint8_t* out) {
  const std::uint8_t a = kBase64[text[0]], b = kBase64[text[1]], c = kBase64[text[2]], d = kBase64[text[3]];
  if ((a | b | c | d) > 63) {
    return false;
  }
  const std::uint32_t word = static_cast<std::uint32_t>(a) << 18 | static_cast<std::uint32_t>(b) << 12 |
                             static_cast<std::uint32_t>(c) << 6 | d;
  out[0] = static_cast<std::uint8_t>(word >> 16);
  out[1] = static_cast<std::uint8_t>(word >> 8);
  out[2] = static_cast<std::uint8_t>(word);
  return true;
}

std::uint8_t* decode_base64(const Cell& cell, std::uint8_t* out) {
  std::size_t at = 0;
  std::uint32_t word = 0;
  int digits = 0;
  int padding = 0;
  while (at < cell.size) {
    if (digits == 0 && padding == 0 && at + 4 <= cell.size && decode_quad(cell.text + at, out)) {
      at += 4;
      out += 3;
      continue;
    }
    const std::uint8_t digit = kBase64[cell.text[at]];
    if (cell.text[at] == '=' && digits >= 2 && digits + padding < 4) {
      ++padding;
    } else if (digit < 64 && padding == 0) {
      word = word << 6 | digit;
      if (++digits == 4) {
        *out++ = static_cast<std::uint8_t>(word >> 16);
        *out++ = static_cast<std::uint8_t>(word >> 8);
        *out++ = static_cast<std::uint8_t>(word);
        digits = 0;
      }
    } else if (digit != kBreak) {
      cell.fail(at, cell.shown(at) + " does not belong in base64 here; write the sketch in base64 or hexadecimal");
    }
    ++at;
  }
  if (digits == 1 || (padding > 0 && digits + padding != 4)) {
    cell.fail(cell.size, "base64 ends inside a group of four; export the column again without cutting cells");
  }
  if (digits == 2) {
    *out++ = static_cast<std::uint8_t>(word >> 4);
  } else if (digits == 3) {
    *out++ = static_cast<std::uint8_t>(word >> 10);
    *out++ = static_cast<std::uint8_t>(word >> 2);
  }
  return out;
}

// Some writers put blanks around cells.
Cell trimmed(Cell cell) {
  const auto blank = [](std::uint8_t c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (cell.size > 0 && blank(cell.text[cell.size - 1])) {
    --cell.size;
  }
  for (; cell.size > 0 && blank(*cell.text); ++cell.skipped) {
    ++cell.text;
    --cell.size;
  }
  return cell;
}

// Where the hexadecimal digits of a cell start, or -1 for base64. An image has the bytes 3, 3 or 4, 3 near its start,
// also behind a length prefix, and their base64 always holds a character that is no hexadecimal digit.
std::int64_t hex_start(const Cell& cell) {
  const bool escaped = cell.size >= 2 && (cell.text[1] | 32) == 'x' && (cell.text[0] == '0' || cell.text[0] == '\\');
  const std::size_t from = escaped ? 2 : 0;
  for (std::size_t i = from; i < cell.size && i < from + 28; ++i) {
    if (kHex[cell.text[i]] > 15) {
      return escaped ? 2 : -1;
    }
  }
  return static_cast<std::int64_t>(from);
}

std::uint8_t* decode_cell(const Cell& cell, std::uint8_t* out) {
  const std::int64_t from = hex_start(cell);
  return from < 0 ? decode_base64(cell, out) : decode_hex(cell, static_cast<std::size_t>(from), out);
}

}  // namespace

ByteColumn decode_text(const std::uint8_t* text, const std::int64_t* offsets, std::size_t n) {
  // Base64 gives 3 bytes of 4 characters, hexadecimal 1 of 2: the text's own size is enough for either.
  const auto total = static_cast<std::size_t>(offsets[n] - offsets[0]);
  ByteColumn column{Buffer<std::uint8_t>(total), Buffer<std::int64_t>(n + 1)};
  std::uint8_t* out = column.bytes.data.get();
  column.offsets.data[0] = 0;
  for (std::size_t i = 0; i < n; ++i) {
    poll();
    const Cell cell{text + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i]), static_cast<std::int64_t>(i)};
    out = decode_cell(trimmed(cell), out);
    column.offsets.data[i + 1] = out - column.bytes.data.get();
  }
  column.bytes.size = static_cast<std::size_t>(column.offsets.data[n]);
  return column;
}

}  // namespace thetatree
