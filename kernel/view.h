// A column as the caller holds it: read in place, whatever its type and stride.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace thetatree {

enum class Type : uint8_t { f32, f64, i8, u8, i16, u16, i32, u32, i64, u64 };

template <class T>
constexpr Type type_of();
template <> constexpr Type type_of<float>() { return Type::f32; }
template <> constexpr Type type_of<double>() { return Type::f64; }
template <> constexpr Type type_of<int8_t>() { return Type::i8; }
template <> constexpr Type type_of<uint8_t>() { return Type::u8; }
template <> constexpr Type type_of<int16_t>() { return Type::i16; }
template <> constexpr Type type_of<uint16_t>() { return Type::u16; }
template <> constexpr Type type_of<int32_t>() { return Type::i32; }
template <> constexpr Type type_of<uint32_t>() { return Type::u32; }
template <> constexpr Type type_of<int64_t>() { return Type::i64; }
template <> constexpr Type type_of<uint64_t>() { return Type::u64; }

// Calls body.template operator()<T>() for the type's C++ counterpart.
template <class Body>
auto with_type(Type type, Body&& body) {
  switch (type) {
    case Type::f32: return body.template operator()<float>();
    case Type::i8: return body.template operator()<int8_t>();
    case Type::u8: return body.template operator()<uint8_t>();
    case Type::i16: return body.template operator()<int16_t>();
    case Type::u16: return body.template operator()<uint16_t>();
    case Type::i32: return body.template operator()<int32_t>();
    case Type::u32: return body.template operator()<uint32_t>();
    case Type::i64: return body.template operator()<int64_t>();
    case Type::u64: return body.template operator()<uint64_t>();
    default: return body.template operator()<double>();
  }
}

inline int64_t size_of(Type type) {
  return with_type(type, []<class T>() { return static_cast<int64_t>(sizeof(T)); });
}

struct View {
  const char* data = nullptr;
  int64_t stride = 0;  // bytes from one row to the next
  Type type = Type::f64;

  template <class T>
  T at(int64_t row) const {
    T value;  // copied, since a caller's column need not be aligned
    std::memcpy(&value, data + row * stride, sizeof(T));
    return value;
  }
  double number(int64_t row) const {
    return with_type(type, [&]<class T>() { return static_cast<double>(at<T>(row)); });
  }
};

}  // namespace thetatree
