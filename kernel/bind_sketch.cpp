// Sketches for Python: plain arrays in and out. Shapes and index bounds are checked here, so that no array from
// Python can make the kernel read outside it; what the values mean is checked by thetatree.sketch.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <utility>

#include "bind_call.h"
#include "murmur.h"
#include "theta_set.h"
#include "theta_wire.h"

namespace nb = nanobind;

namespace {

using namespace thetatree;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
Out<T> to_numpy(Buffer<T>&& buffer) {
  const std::size_t n = buffer.size;
  T* const data = buffer.data.release();
  nb::capsule owner(data, [](void* p) noexcept { GiveBack{}(p); });
  return Out<T>(data, {n}, owner);
}

nb::tuple to_numpy(SketchColumn&& column) {
  return nb::make_tuple(to_numpy(std::move(column.hashes)), to_numpy(std::move(column.offsets)),
                        to_numpy(std::move(column.thetas)));
}

void require(bool holds, const char* what) {
  if (!holds) {
    throw nb::value_error(what);
  }
}

// Offsets start at 0 or above, ascend, and end inside the data. Returns the number of cells.
std::size_t check_offsets(const In<std::int64_t>& offsets, std::size_t size) {
  require(offsets.shape(0) >= 1, "offsets need at least one element");
  const std::size_t n = offsets.shape(0) - 1;
  require(offsets.data()[0] >= 0, "offsets must not be negative");
  for (std::size_t i = 0; i < n; ++i) {
    require(offsets.data()[i] <= offsets.data()[i + 1], "offsets must ascend");
  }
  require(static_cast<std::uint64_t>(offsets.data()[n]) <= size, "offsets end behind the data");
  return n;
}

void check_indices(const In<std::int64_t>& indices, std::size_t limit) {
  for (std::size_t i = 0; i < indices.shape(0); ++i) {
    require(indices.data()[i] >= 0 && static_cast<std::uint64_t>(indices.data()[i]) < limit, "index out of range");
  }
}

SketchView view_of(const In<std::uint64_t>& hashes, const In<std::int64_t>& offsets, const In<std::uint64_t>& thetas) {
  const std::size_t n = check_offsets(offsets, hashes.shape(0));
  require(thetas.shape(0) == n, "thetas and offsets differ in length");
  return {hashes.data(), offsets.data(), thetas.data(), n};
}

// Runs without the GIL. A WireError becomes (index, offset, what) in place of the result: the Python side knows what
// the cell is called.
template <class Work, class Convert>
nb::object guarded(Work&& work, Convert&& convert) {
  try {
    return convert(run_unlocked(work));
  } catch (const WireError& error) {
    return nb::make_tuple(nb::make_tuple(error.sketch, error.offset, error.what));
  }
}

nb::object bytes_result(ByteColumn&& column) {
  return nb::make_tuple(to_numpy(std::move(column.bytes)), to_numpy(std::move(column.offsets)));
}

nb::object bind_read(const In<std::uint8_t>& bytes, const In<std::int64_t>& offsets, std::uint16_t seed_hash,
                     int n_threads) {
  const std::size_t n = check_offsets(offsets, bytes.shape(0));
  return guarded([&] { return read_sketches(bytes.data(), offsets.data(), n, seed_hash, n_threads); },
                 [](SketchColumn&& column) -> nb::object { return to_numpy(std::move(column)); });
}

nb::object bind_decode(const In<std::uint8_t>& text, const In<std::int64_t>& offsets) {
  const std::size_t n = check_offsets(offsets, text.shape(0));
  return guarded([&] { return decode_text(text.data(), offsets.data(), n); }, bytes_result);
}

nb::object bind_write(const In<std::uint64_t>& hashes, const In<std::int64_t>& offsets,
                      const In<std::uint64_t>& thetas, std::uint16_t seed_hash, int version) {
  const SketchView view = view_of(hashes, offsets, thetas);
  require(version == 3 || version == 4, "version must be 3 or 4");
  return guarded([&] { return write_sketches(view.hashes, view.offsets, view.thetas, view.n, seed_hash, version); },
                 bytes_result);
}

nb::object bind_unite(const In<std::uint64_t>& hashes, const In<std::int64_t>& offsets,
                      const In<std::uint64_t>& thetas, const In<std::int64_t>& groups,
                      const In<std::int64_t>& members, const In<std::int64_t>& k) {
  const SketchView view = view_of(hashes, offsets, thetas);
  const std::size_t n = check_offsets(groups, members.shape(0));
  check_indices(members, view.n);
  require(k.shape(0) == n, "one k for each group");
  return guarded([&] { return unite(view, groups.data(), members.data(), k.data(), n); },
                 [](SketchColumn&& column) -> nb::object { return to_numpy(std::move(column)); });
}

nb::object bind_take(const In<std::uint64_t>& hashes, const In<std::int64_t>& offsets, const In<std::uint64_t>& thetas,
                     const In<std::int64_t>& members) {
  const SketchView view = view_of(hashes, offsets, thetas);
  check_indices(members, view.n);
  return guarded([&] { return take(view, members.data(), members.shape(0)); },
                 [](SketchColumn&& column) -> nb::object { return to_numpy(std::move(column)); });
}

nb::object bind_combine(const In<std::uint64_t>& hashes, const In<std::int64_t>& offsets,
                        const In<std::uint64_t>& thetas, const In<std::int64_t>& left, const In<std::int64_t>& right,
                        bool subtract) {
  const SketchView view = view_of(hashes, offsets, thetas);
  check_indices(left, view.n);
  check_indices(right, view.n);
  require(left.shape(0) == right.shape(0), "left and right differ in length");
  const auto operation = subtract ? PairOperation::subtract : PairOperation::intersect;
  return guarded([&] { return combine(view, left.data(), right.data(), left.shape(0), operation); },
                 [](SketchColumn&& column) -> nb::object { return to_numpy(std::move(column)); });
}

Out<std::int64_t> bind_overlaps(const In<std::uint64_t>& hashes, const In<std::int64_t>& offsets,
                                const In<std::uint64_t>& thetas, const In<std::int64_t>& left,
                                const In<std::int64_t>& right, int n_threads) {
  const SketchView view = view_of(hashes, offsets, thetas);
  check_indices(left, view.n);
  check_indices(right, view.n);
  require(left.shape(0) == right.shape(0), "left and right differ in length");
  Buffer<std::int64_t> out(3 * left.shape(0));
  run_unlocked([&] { overlaps(view, left.data(), right.data(), left.shape(0), n_threads, out.data.get()); });
  return to_numpy(std::move(out));
}

nb::object bind_take_fold(const In<std::uint64_t>& hashes, const In<std::int64_t>& offsets,
                          const In<std::uint64_t>& thetas, std::uint64_t n_folds, std::uint64_t fold, bool keep,
                          std::uint64_t salt) {
  const SketchView view = view_of(hashes, offsets, thetas);
  require(n_folds >= 1 && n_folds < (1ULL << 32) && fold < n_folds, "fold out of range");
  return guarded([&] { return take_fold(view, n_folds, fold, keep, salt); },
                 [](SketchColumn&& column) -> nb::object { return to_numpy(std::move(column)); });
}

nb::object bind_take_share(const In<std::uint64_t>& hashes, const In<std::int64_t>& offsets,
                           const In<std::uint64_t>& thetas, double share, bool keep, std::uint64_t salt) {
  const SketchView view = view_of(hashes, offsets, thetas);
  require(share >= 0 && share <= 1, "share out of range");
  return guarded([&] { return take_share(view, share, keep, salt); },
                 [](SketchColumn&& column) -> nb::object { return to_numpy(std::move(column)); });
}

// Hashing: one output array, one loop without the GIL.
template <class Work>
Out<std::uint64_t> hashed(std::size_t n, const std::optional<In<std::uint8_t>>& present, Work&& work) {
  require(!present || present->shape(0) == n, "present and keys differ in length");
  Buffer<std::uint64_t> out(n);
  run_unlocked([&] { work(present ? present->data() : nullptr, out.data.get()); });
  return to_numpy(std::move(out));
}

using Present = std::optional<In<std::uint8_t>>;

Out<std::uint64_t> bind_hash_int64(const In<std::int64_t>& keys, std::uint64_t seed, const Present& present) {
  return hashed(keys.shape(0), present, [&](const std::uint8_t* mask, std::uint64_t* out) {
    hash_int64(keys.data(), mask, keys.shape(0), seed, out);
  });
}

Out<std::uint64_t> bind_hash_float64(const In<double>& keys, std::uint64_t seed, const Present& present) {
  return hashed(keys.shape(0), present, [&](const std::uint8_t* mask, std::uint64_t* out) {
    hash_float64(keys.data(), mask, keys.shape(0), seed, out);
  });
}

Out<std::uint64_t> bind_hash_text(const In<std::uint8_t>& bytes, const In<std::int64_t>& offsets, std::uint64_t seed,
                                  const Present& present) {
  const std::size_t n = check_offsets(offsets, bytes.shape(0));
  return hashed(n, present, [&](const std::uint8_t* mask, std::uint64_t* out) {
    hash_text(bytes.data(), offsets.data(), mask, n, seed, out);
  });
}

void check_samplers(const Samplers& samplers, const In<std::int64_t>& ids, bool may_be_none) {
  for (std::size_t i = 0; i < ids.shape(0); ++i) {
    const std::int64_t id = ids.data()[i];
    require((id >= 0 || may_be_none) && id < static_cast<std::int64_t>(samplers.size()), "no such sampler");
  }
}

// Codes and classes come straight from data, so their largest is checked in one cheap pass.
void check_codes(const In<std::int32_t>& codes, std::size_t limit) {
  std::int32_t largest = -1;
  for (std::size_t i = 0; i < codes.shape(0); ++i) {
    largest = codes.data()[i] > largest ? codes.data()[i] : largest;
  }
  require(static_cast<std::int64_t>(largest) < static_cast<std::int64_t>(limit), "code or class out of range");
}

void bind_add_codes(Samplers& samplers, const In<std::uint64_t>& hashes, const In<std::int32_t>& classes,
                    const In<std::int32_t>& codes, const In<std::int64_t>& ids, std::size_t n_codes) {
  const std::size_t n = hashes.shape(0);
  require(classes.shape(0) == n && codes.shape(0) == n, "columns differ in length");
  require(n_codes > 0 && ids.shape(0) % n_codes == 0, "ids must be classes x codes");
  check_samplers(samplers, ids, true);
  run_unlocked([&] {
    check_codes(classes, ids.shape(0) / n_codes);
    check_codes(codes, n_codes);
    samplers.add_codes(hashes.data(), classes.data(), codes.data(), n, ids.data(), n_codes);
  });
}

SiftedKeys sifted_keys(const In<std::uint64_t>& hashes, const In<std::uint8_t>& levels,
                       const In<std::int32_t>& classes) {
  const std::size_t n = hashes.shape(0);
  require(levels.shape(0) == n && classes.shape(0) == n, "columns differ in length");
  return {hashes.data(), levels.data(), classes.data(), n};
}

void bind_add_flags(Samplers& samplers, const In<std::uint64_t>& hashes, const In<std::uint8_t>& levels,
                    const In<std::int32_t>& classes, const In<std::uint8_t>& flags, const In<std::int64_t>& ids,
                    std::uint8_t low, std::uint8_t high) {
  const SiftedKeys keys = sifted_keys(hashes, levels, classes);
  require(flags.shape(0) == keys.n, "columns differ in length");
  require(low <= high, "low must not exceed high");
  check_samplers(samplers, ids, false);
  run_unlocked([&] {
    check_codes(classes, ids.shape(0));
    samplers.add_flags(keys, flags.data(), ids.data(), ids.shape(0), low, high);
  });
}

void bind_add_bits(Samplers& samplers, const In<std::uint64_t>& hashes, const In<std::uint8_t>& levels,
                   const In<std::int32_t>& classes, const In<std::uint8_t>& bits, std::size_t offset,
                   const In<std::int64_t>& ids) {
  const SiftedKeys keys = sifted_keys(hashes, levels, classes);
  require(offset < 8 * bits.shape(0) + 1 && 8 * bits.shape(0) - offset >= keys.n, "fewer bits than keys");
  check_samplers(samplers, ids, false);
  run_unlocked([&] {
    check_codes(classes, ids.shape(0));
    samplers.add_bits(keys, {bits.data(), bits.shape(0), offset}, ids.data(), ids.shape(0));
  });
}

int bind_least_level(const Samplers& samplers, const In<std::int64_t>& ids) {
  check_samplers(samplers, ids, false);
  return samplers.least_level(ids.data(), ids.shape(0));
}

Out<std::uint8_t> bind_levels(const In<std::uint64_t>& hashes) {
  Buffer<std::uint8_t> out(hashes.shape(0));
  run_unlocked([&] { levels_of(hashes.data(), hashes.shape(0), out.data.get()); });
  return to_numpy(std::move(out));
}

}  // namespace

void bind_sketch(nb::module_& m) {
  m.def("seed_hash", &seed_hash);
  m.def("hash_int64", &bind_hash_int64, nb::arg(), nb::arg(), nb::arg().none());
  m.def("hash_float64", &bind_hash_float64, nb::arg(), nb::arg(), nb::arg().none());
  m.def("hash_text", &bind_hash_text, nb::arg(), nb::arg(), nb::arg(), nb::arg().none());
  m.def("read_sketches", &bind_read);
  m.def("write_sketches", &bind_write);
  m.def("decode_text", &bind_decode);
  m.def("unite_sketches", &bind_unite);
  m.def("take_sketches", &bind_take);
  m.def("combine_sketches", &bind_combine);
  m.def("sketch_overlaps", &bind_overlaps);
  m.def("take_fold", &bind_take_fold);
  m.def("levels_of", &bind_levels);
  m.def("take_share", &bind_take_share);
  nb::class_<Samplers>(m, "Samplers")
      .def(nb::init<std::size_t, std::int64_t>())
      .def("__len__", &Samplers::size)
      .def("grow", &Samplers::grow)
      .def("add_codes", &bind_add_codes)
      .def("add_flags", &bind_add_flags)
      .def("add_bits", &bind_add_bits)
      .def("least_level", &bind_least_level)
      .def("finish", [](const Samplers& samplers) {
        return guarded([&] { return samplers.finish(); },
                       [](SketchColumn&& column) -> nb::object { return to_numpy(std::move(column)); });
      });
}
