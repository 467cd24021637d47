// Data sets from numpy arrays and sparse matrices. Features that are rows of 32-bit floats already stay where
// they are.
#pragma once

#include <pybind11/numpy.h>

#include <optional>
#include <string>
#include <vector>

#include "session.h"
#include "tunemix/data/dataset.h"

namespace tunemix::python {

// What data has besides its features. `order`: the row of each document where rows of a query are not
// adjacent; empty where they are. `weights` may be empty (all count 1), and so may `feature_names`.
struct Documents {
  py::array_t<int32_t, py::array::c_style> labels;
  std::vector<size_t> offsets;
  std::vector<std::string> ids;
  std::vector<uint32_t> order;
  std::vector<float> weights;
  std::vector<std::string> feature_names;
};

// features: documents x features of 32- or 64-bit floats with any strides.
Dataset dense_dataset(const py::array& features, Documents documents, int threads);
// In compressed rows, as scipy has them; what is not written is 0.
Dataset sparse_dataset(const py::array& indptr, const py::array& indices, const py::array& values,
                       size_t columns, Documents documents, int threads);
// Labels, queries and the documents' names (may be empty) alone: for evaluation.
Dataset labelled_documents(Documents documents, const std::vector<std::string>& names);

}  // namespace tunemix::python
