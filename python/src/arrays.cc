#include "arrays.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "tunemix/data/missing.h"

namespace tunemix::python {
namespace {

constexpr size_t kRowsAtOnce = 256;

// A value that is infinite as a 32-bit float, and where.
struct BadValue {
  size_t row;
  size_t column;
  double value;
};

[[noreturn]] void refuse(const BadValue& bad) {
  if (std::isfinite(bad.value))
    throw_input("X[{}, {}] is {}, which overflows; expected a finite 32-bit float", bad.row, bad.column,
                bad.value);
  throw_input("X[{}, {}] is {}; expected a finite number, or NaN for a missing one", bad.row, bad.column,
              bad.value);
}

// Rows begin..end in blocks; the first bad value by block is refused.
template <typename Body>
void for_row_blocks(size_t rows, const Context& context, const Body& body) {
  std::vector<std::optional<BadValue>> bad((rows + kRowsAtOnce - 1) / kRowsAtOnce);
  context.pool().run(bad.size(), [&](size_t b) {
    context.check_stop();
    bad[b] = body(b * kRowsAtOnce, std::min(rows, (b + 1) * kRowsAtOnce));
  });
  for (const auto& value : bad)
    if (value) refuse(*value);
}

// Where a document's row is among those given.
size_t source_row(const std::vector<uint32_t>& order, size_t document) {
  return order.empty() ? document : order[document];
}

template <typename T>
struct Strided {
  const char* base;
  py::ssize_t row_stride;
  py::ssize_t column_stride;
  T operator()(size_t row, size_t column) const {
    return *reinterpret_cast<const T*>(base + static_cast<py::ssize_t>(row) * row_stride +
                                       static_cast<py::ssize_t>(column) * column_stride);
  }
};

// As a file would have given it: without -0, and missing values of the same bits.
float plain(float value) { return is_missing(value) ? kMissing : value + 0.0F; }

// What a block of values has that a file would not give: of the bits, so that the loop is one of vectors.
struct Oddities {
  bool infinite = false;
  bool other_bits = false;  // than plain ones
};

Oddities find_oddities(std::span<const float> values) {
  constexpr uint32_t kInfinity = 0x7f800000;
  constexpr auto kMissingBits = std::bit_cast<uint32_t>(kMissing);
  uint32_t infinite = 0;
  uint32_t other_bits = 0;
  for (const float value : values) {
    const auto bits = std::bit_cast<uint32_t>(value);
    const uint32_t size = bits & 0x7fffffffU;
    infinite |= size == kInfinity ? 1U : 0U;
    other_bits |= bits == 0x80000000U || (size > kInfinity && bits != kMissingBits) ? 1U : 0U;
  }
  return {infinite != 0, other_bits != 0};
}

size_t first_infinite(std::span<const float> values) {
  return static_cast<size_t>(
      std::find_if(values.begin(), values.end(), [](float v) { return std::isinf(v); }) - values.begin());
}

template <typename T>
FloatBuffer copy_rows(const Strided<T>& from, size_t rows, size_t columns, const std::vector<uint32_t>& order,
                      const Context& context) {
  FloatBuffer to(rows * columns);
  const bool by_column = std::abs(from.row_stride) < std::abs(from.column_stride);
  for_row_blocks(rows, context, [&](size_t begin, size_t end) -> std::optional<BadValue> {
    const auto copy_one = [&](size_t i, size_t j) {
      to.data()[i * columns + j] = plain(static_cast<float>(from(source_row(order, i), j)));
    };
    if (by_column) {
      for (size_t j = 0; j < columns; ++j)
        for (size_t i = begin; i < end; ++i) copy_one(i, j);
    } else {
      for (size_t i = begin; i < end; ++i)
        for (size_t j = 0; j < columns; ++j) copy_one(i, j);
    }
    const auto copied = to.values().subspan(begin * columns, (end - begin) * columns);
    if (!find_oddities(copied).infinite) return std::nullopt;
    const size_t at = first_infinite(copied);
    const size_t row = source_row(order, begin + at / columns);
    return BadValue{row, at % columns, static_cast<double>(from(row, at % columns))};
  });
  return to;
}

// Whether the values can stay where they are: they have the bits that a file would give. Refuses infinite
// ones.
bool as_read_from_files(std::span<const float> values, size_t rows, size_t columns, const Context& context) {
  std::atomic<bool> other_bits{false};
  for_row_blocks(rows, context, [&](size_t begin, size_t end) -> std::optional<BadValue> {
    const auto block = values.subspan(begin * columns, (end - begin) * columns);
    const Oddities found = find_oddities(block);
    if (found.other_bits) other_bits.store(true, std::memory_order_relaxed);
    if (!found.infinite) return std::nullopt;
    const size_t at = first_infinite(block);
    return BadValue{begin + at / columns, at % columns, block[at]};
  });
  return !other_bits.load();
}

// Keeps a Python object, and lets go of it under the lock, whichever thread is the last.
std::shared_ptr<const void> keep(const py::object& object) {
  return {new py::object(object), [](const py::object* held) {
            const py::gil_scoped_acquire lock;
            delete held;
          }};
}

template <typename T>
FloatBuffer copy_strided(const py::array& features, const std::vector<uint32_t>& order, Session& session) {
  const Strided<T> from{static_cast<const char*>(features.data()), features.strides(0), features.strides(1)};
  const auto rows = static_cast<size_t>(features.shape(0));
  const auto columns = static_cast<size_t>(features.shape(1));
  FloatBuffer buffer;
  session.work([&] { buffer = copy_rows(from, rows, columns, order, session.context()); });
  return buffer;
}

template <typename Index, typename Value>
FloatBuffer copy_sparse(const py::array& indptr, const py::array& indices, const py::array& values,
                        size_t rows, size_t columns, const std::vector<uint32_t>& order, Session& session) {
  const auto* first = static_cast<const Index*>(indptr.data());
  const auto* column = static_cast<const Index*>(indices.data());
  const auto* value = static_cast<const Value*>(values.data());
  const auto count = static_cast<Index>(std::min(indices.size(), values.size()));
  FloatBuffer to(rows * columns);
  session.work([&] {
    for_row_blocks(rows, session.context(), [&](size_t begin, size_t end) -> std::optional<BadValue> {
      std::fill(to.data() + begin * columns, to.data() + end * columns, 0.0F);
      for (size_t i = begin; i < end; ++i) {
        const size_t row = source_row(order, i);
        if (first[row] < 0 || first[row] > first[row + 1] || first[row + 1] > count)
          throw_input("X: row {} of the sparse matrix does not fit its data", row);
        for (Index at = first[row]; at < first[row + 1]; ++at) {
          const auto j = static_cast<size_t>(column[at]);
          if (column[at] < 0 || j >= columns)
            throw_input("X: row {} of the sparse matrix has column {}; expected 0 to {}", row, column[at],
                        columns - 1);
          // Values of the same place add up, as scipy says.
          float& place = to.data()[i * columns + j];
          place = plain(static_cast<float>(place + value[at]));
          if (std::isinf(place)) return BadValue{row, j, static_cast<double>(value[at])};
        }
      }
      return std::nullopt;
    });
  });
  return to;
}

FeatureNames names_of(const GivenDocuments& documents) {
  FeatureNames names;
  try {
    for (size_t j = 0; j < documents.feature_names.size(); ++j) names.set(j, documents.feature_names[j]);
  } catch (const InputError& error) {
    throw_input("X: {}; rename its columns", error.what());
  }
  return names;
}

}  // namespace

Dataset dense_dataset(const py::array& features, GivenDocuments documents, int threads) {
  const std::vector<uint32_t>& order = documents.about.source_rows;
  require(features.ndim() == 2 && static_cast<size_t>(features.shape(0)) == documents.about.size(),
          "features without a shape");
  Session session(threads);
  const auto rows = static_cast<size_t>(features.shape(0));
  const auto columns = static_cast<size_t>(features.shape(1));
  const bool is_float = py::isinstance<py::array_t<float>>(features);
  const bool rows_of_floats = is_float && order.empty() && (features.flags() & py::array::c_style) != 0 &&
                              reinterpret_cast<uintptr_t>(features.data()) % alignof(float) == 0;
  bool in_place = false;
  const std::span<const float> values(static_cast<const float*>(features.data()),
                                      rows_of_floats ? rows * columns : 0);
  if (rows_of_floats)
    session.work([&] { in_place = as_read_from_files(values, rows, columns, session.context()); });
  if (!in_place) {
    FloatBuffer copy = is_float ? copy_strided<float>(features, order, session)
                                : copy_strided<double>(features, order, session);
    return Dataset(std::move(copy), columns, std::move(documents.about)).named(names_of(documents));
  }
  return Dataset(values, keep(features), columns, std::move(documents.about)).named(names_of(documents));
}

Dataset sparse_dataset(const py::array& indptr, const py::array& indices, const py::array& values,
                       size_t columns, GivenDocuments documents, int threads) {
  const size_t rows = documents.about.size();
  require(static_cast<size_t>(indptr.size()) == rows + 1, "a sparse matrix without rows");
  Session session(threads);
  const auto copy = [&](auto index, auto value) {
    return copy_sparse<decltype(index), decltype(value)>(indptr, indices, values, rows, columns,
                                                         documents.about.source_rows, session);
  };
  const bool wide = py::isinstance<py::array_t<int64_t>>(indices);
  const bool is_float = py::isinstance<py::array_t<float>>(values);
  FloatBuffer features = wide ? (is_float ? copy(int64_t{}, float{}) : copy(int64_t{}, double{}))
                              : (is_float ? copy(int32_t{}, float{}) : copy(int32_t{}, double{}));
  return Dataset(std::move(features), columns, std::move(documents.about)).named(names_of(documents));
}

Dataset labelled_documents(GivenDocuments documents, const std::vector<std::string>& names) {
  Documents& about = documents.about;
  for (size_t i = 0; i < names.size(); ++i)
    about.names.add(names[about.source_rows.empty() ? i : about.source_rows[i]]);
  return Dataset(FloatBuffer(), 0, std::move(about));
}

}  // namespace tunemix::python
