#include "byte_tally.h"

#include <algorithm>

#include "isa.h"
#include "parallel.h"

namespace thetatree {
namespace {

constexpr int64_t kAhead = 16;  // rows that are asked for before they are counted

bool is_byte(const Column& column) { return column.store == Store::u8 || column.store == Store::binned; }

// Turns columns into rows, a tile of 64 rows at a time.
void interleave(const std::vector<const uint8_t*>& columns, int width, int64_t begin, int64_t end, uint8_t* data) {
  constexpr int64_t kTile = 64;
  const int used = static_cast<int>(columns.size());
  for (int64_t from = begin; from < end; from += kTile) {
    const int64_t to = std::min(end, from + kTile);
    for (int lane = 0; lane < width; ++lane)
      for (int64_t i = from; i < to; ++i) data[i * width + lane] = lane < used ? columns[lane][i] : 0;
  }
}

template <int Width>
void count_rows(const uint8_t* data, const uint32_t* rows, int64_t n, uint32_t* counts) {
  for (int64_t i = 0; i < n; ++i) {
    if (i + kAhead < n) __builtin_prefetch(data + static_cast<int64_t>(rows[i + kAhead]) * Width);
    const uint8_t* codes = data + static_cast<int64_t>(rows[i]) * Width;
    for (int lane = 0; lane < Width; ++lane) ++counts[lane * kCodes + codes[lane]];
  }
}

void count_block(const ByteRows::Block& block, const uint32_t* rows, int64_t n, uint32_t* counts) {
  const uint8_t* data = block.data.data();
  switch (block.width) {
    case 8: return count_rows<8>(data, rows, n, counts);
    case 16: return count_rows<16>(data, rows, n, counts);
    case 24: return count_rows<24>(data, rows, n, counts);
    default: return count_rows<32>(data, rows, n, counts);
  }
}

// Whole counts; threads share the rows, and what each has counted is added up.
void tally_counts(const ByteRows& table, const NodeRows& node, int n_threads, ByteTally& out) {
  const size_t size = table.blocks().size() * node.n_classes * kLanes * kCodes;
  out.counts.assign(size, 0);
  std::vector<std::vector<uint32_t>> others(std::max(0, n_threads - 1));
  for (auto& other : others) other.assign(size, 0);
  const int64_t chunk = n_threads > 1 ? std::max<int64_t>(1 << 12, node.n / (8 * n_threads)) : node.n;
  parallel_chunks(n_threads, node.n, chunk, [&](int64_t begin, int64_t end, int thread) {
    uint32_t* counts = thread == 0 ? out.counts.data() : others[thread - 1].data();
    for (const auto& block : table.blocks()) {
      for (int k = 0; k < node.n_classes; ++k, counts += kLanes * kCodes) {
        const int64_t from = std::max(begin, node.class_begin[k]), to = std::min(end, node.class_begin[k + 1]);
        if (from < to) count_block(block, node.rows + from, to - from, counts);
      }
    }
  });
  for (const auto& other : others)
    for (size_t i = 0; i < size; ++i) out.counts[i] += other[i];
}

// Sums: a thread owns its columns, so that the order of addition never changes.
constexpr int kLanesAtOnce = 8;

void sum_weights(const ByteRows::Block& block, const NodeRows& node, int first, double* sums) {
  const int width = 1 + node.n_classes;
  for_each_row(node, [&](int64_t i, int k) {
    const uint8_t* codes = block.data.data() + static_cast<int64_t>(node.rows[i]) * block.width + first;
    const double w = node.weight[i];
    for (int lane = 0; lane < kLanesAtOnce; ++lane) {
      double* sum = sums + (lane * kCodes + codes[lane]) * static_cast<int64_t>(width);
      sum[0] += 1;
      sum[1 + k] += w;
    }
  });
}

void sum_squares(const ByteRows::Block& block, const NodeRows& node, int first, double* sums) {
  for (int64_t i = 0; i < node.n; ++i) {
    if (i + kAhead < node.n)
      __builtin_prefetch(block.data.data() + static_cast<int64_t>(node.rows[i + kAhead]) * block.width + first);
    const uint8_t* codes = block.data.data() + static_cast<int64_t>(node.rows[i]) * block.width + first;
    const double w = node.weight.empty() ? 1.0 : node.weight[i], wy = w * node.y[i], wyy = wy * node.y[i];
    for (int lane = 0; lane < kLanesAtOnce; ++lane) {
      double* sum = sums + (lane * kCodes + codes[lane]) * 4;
      sum[0] += 1;
      sum[1] += w;
      sum[2] += wy;
      sum[3] += wyy;
    }
  }
}

void tally_sums(const ByteRows& table, const NodeRows& node, int n_threads, ByteTally& out) {
  out.width = node.measure == Measure::sums ? 4 : 1 + node.n_classes;
  out.sums.assign(table.blocks().size() * kLanes * kCodes * out.width, 0.0);
  const int64_t parts = kLanes / kLanesAtOnce;
  parallel_for(n_threads, static_cast<int64_t>(table.blocks().size()) * parts, [&](int64_t task, int) {
    const auto& block = table.blocks()[task / parts];
    const int first = static_cast<int>(task % parts) * kLanesAtOnce;
    if (first >= block.used) return;
    double* sums = out.sums.data() + (task / parts * kLanes + first) * kCodes * static_cast<int64_t>(out.width);
    if (node.measure == Measure::sums) sum_squares(block, node, first, sums);
    else sum_weights(block, node, first, sums);
  });
}

}  // namespace

ByteRows::ByteRows(const Columns& columns, int n_threads) : place_(columns.n_features(), -1) {
  std::vector<std::vector<const uint8_t*>> sources;
  for (int64_t f = 0; f < columns.n_features(); ++f) {
    if (!is_byte(columns.column(f))) continue;
    if (sources.empty() || sources.back().size() == kLanes) sources.emplace_back();
    place_[f] = static_cast<int64_t>(sources.size() - 1) * kLanes + static_cast<int64_t>(sources.back().size());
    sources.back().push_back(columns.column(f).codes8.data());
  }
  blocks_.resize(sources.size());
  for (size_t b = 0; b < sources.size(); ++b) {
    blocks_[b].used = static_cast<int>(sources[b].size());
    blocks_[b].width = (blocks_[b].used + 7) / 8 * 8;
    blocks_[b].data.resize(columns.n_rows() * blocks_[b].width);
  }
  parallel_chunks(n_threads, columns.n_rows(), 1 << 13, [&](int64_t begin, int64_t end, int) {
    for (size_t b = 0; b < sources.size(); ++b)
      interleave(sources[b], blocks_[b].width, begin, end, blocks_[b].data.data());
  });
}

void tally_bytes(const ByteRows& table, const NodeRows& node, int n_threads, ByteTally& out) {
  out.n_classes = node.n_classes;
  out.counts.clear();
  out.sums.clear();
  if (node.measure == Measure::counts) tally_counts(table, node, n_threads, out);
  else tally_sums(table, node, n_threads, out);
}

void subtract(const ByteTally& part, ByteTally& whole) {
  for (size_t i = 0; i < whole.counts.size(); ++i) whole.counts[i] -= part.counts[i];
}

}  // namespace thetatree
