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

// What data has besides its features, whose names may be empty.
struct GivenDocuments {
  Documents about;
  std::vector<std::string> feature_names;
};

// features: documents x features of 32- or 64-bit floats with any strides.
Dataset dense_dataset(const py::array& features, GivenDocuments documents, int threads);
// In compressed rows, as scipy has them; what is not written is 0.
Dataset sparse_dataset(const py::array& indptr, const py::array& indices, const py::array& values,
                       size_t columns, GivenDocuments documents, int threads);
// Labels, queries and the documents' names (may be empty) alone: for evaluation.
Dataset labelled_documents(GivenDocuments documents, const std::vector<std::string>& names);

}  // namespace tunemix::python
