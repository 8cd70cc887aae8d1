// Mutated and random blobs through the parser of sketches and of their text, under the sanitizers:
//   g++ -std=c++20 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -Ikernel
//       tests/sketch/fuzz_wire.cpp kernel/theta_wire.cpp kernel/theta_text.cpp -o fuzz && ./fuzz 1000000
// Every blob is in a block of exactly its size, so that reading one byte too far is seen. Fails if more is allocated
// than a blob has bits for, if an error points outside the blob, or if any blob takes longer than a second.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "theta_wire.h"

namespace {

using namespace thetatree;
using Bytes = std::vector<std::uint8_t>;

Bytes image_of(std::mt19937_64& random, std::size_t count, std::uint64_t theta, int version) {
  std::vector<std::uint64_t> hashes(count);
  for (auto& hash : hashes) {
    hash = (random() >> 3) | 1;
  }
  std::sort(hashes.begin(), hashes.end());
  const std::int64_t offsets[2] = {0, static_cast<std::int64_t>(count)};
  const ByteColumn column = write_sketches(hashes.data(), offsets, &theta, 1, 0x93cc, version);
  return Bytes(column.bytes.data.get(), column.bytes.data.get() + column.bytes.size);
}

std::vector<Bytes> seeds_of(std::mt19937_64& random) {
  std::vector<Bytes> seeds;
  for (const std::size_t count : {0, 1, 2, 7, 8, 9, 40, 200}) {
    for (const int version : {3, 4}) {
      seeds.push_back(image_of(random, count, kMaxTheta, version));
      seeds.push_back(image_of(random, count, kMaxTheta / 4 * 3, version));
    }
  }
  for (const char* text : {"AQMDAAAezJM=", "01030300001ecc93", "0x01030300001ecc93"}) {
    seeds.emplace_back(text, text + std::strlen(text));
  }
  seeds.push_back({1, 4, 3, 0x20, 4, 0x1a, 0xcc, 0x93, 0, 0, 0, 8});  // crashes datasketches 5.2.0
  return seeds;
}

Bytes mutated(std::mt19937_64& random, Bytes blob) {
  for (std::uint64_t left = 1 + random() % 4; left > 0 && !blob.empty(); --left) {
    const std::size_t head = std::min<std::size_t>(blob.size(), 26);
    blob[random() % (random() % 10 < 7 ? head : blob.size())] = static_cast<std::uint8_t>(random());
  }
  if (random() % 6 == 0) {
    blob.resize(random() % (blob.size() + 1));
  }
  if (random() % 20 == 0) {
    blob.resize(random() % 64);
    std::generate(blob.begin(), blob.end(), [&] { return static_cast<std::uint8_t>(random()); });
  }
  if (random() % 10 == 0) {  // ClickHouse's length in front
    Bytes prefix;
    std::size_t size = blob.size();
    for (; size > 127; size >>= 7) {
      prefix.push_back(static_cast<std::uint8_t>(size | 128));
    }
    prefix.push_back(static_cast<std::uint8_t>(size));
    blob.insert(blob.begin(), prefix.begin(), prefix.end());
  }
  return blob;
}

template <class Work>
bool accepted(const Bytes& blob, Work&& work) {
  try {
    if (work() > 8 * blob.size()) {
      std::puts("allocated more than the blob has bits for");
      std::exit(1);
    }
    return true;
  } catch (const WireError& error) {
    if (error.sketch != 0 || error.offset < 0 || error.offset > static_cast<std::int64_t>(blob.size())) {
      std::puts("an error outside the blob");
      std::exit(1);
    }
    return false;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long n = argc > 1 ? std::atol(argv[1]) : 100000;
  std::mt19937_64 random(argc > 2 ? static_cast<std::uint64_t>(std::atol(argv[2])) : 1);
  const std::vector<Bytes> seeds = seeds_of(random);
  long read = 0;
  double slowest = 0;
  for (long i = 0; i < n; ++i) {
    const Bytes blob = mutated(random, seeds[random() % seeds.size()]);
    const std::unique_ptr<std::uint8_t[]> exact(new std::uint8_t[blob.size()]);
    std::copy(blob.begin(), blob.end(), exact.get());
    const std::int64_t offsets[2] = {0, static_cast<std::int64_t>(blob.size())};
    const auto start = std::chrono::steady_clock::now();
    read += accepted(blob, [&] { return read_sketches(exact.get(), offsets, 1, 0x93cc, 1).hashes.size; });
    accepted(blob, [&] { return decode_text(exact.get(), offsets, 1).bytes.size; });
    slowest = std::max(slowest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::printf("%ld blobs: %ld read, %ld refused, slowest %.6f s\n", n, read, n - read, slowest);
  return slowest < 1 && read > 0 && read < n ? 0 : 1;
}
