#include "data/text_sink.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "tunemix/core/error.h"

namespace tunemix {
namespace {

std::string describe_errno() { return std::generic_category().message(errno); }

}  // namespace

TextSink::TextSink(const std::filesystem::path& file) : file_(file), temporary_(file) {
  temporary_ += fmt::format(".{}.tmp", ::getpid());
  fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd_ < 0) throw_input("{}: cannot write: {}", file.string(), describe_errno());
}

TextSink::~TextSink() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(temporary_.c_str());
}

void TextSink::append(std::span<const std::string> pieces, ThreadPool& pool) {
  std::vector<size_t> offsets;
  for (const std::string& piece : pieces) {
    offsets.push_back(size_);
    size_ += piece.size();
  }
  pool.run(pieces.size(), [&](size_t i) {
    for (size_t done = 0; done < pieces[i].size();) {
      const ssize_t n = ::pwrite(fd_, pieces[i].data() + done, pieces[i].size() - done,
                                 static_cast<off_t>(offsets[i] + done));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw_run("{}: cannot write: {}", file_.string(), describe_errno());
      done += static_cast<size_t>(n);
    }
  });
}

void TextSink::close() {
  const int fd = std::exchange(fd_, -1);
  if (::close(fd) != 0 || ::rename(temporary_.c_str(), file_.c_str()) != 0) {
    const std::string why = describe_errno();
    ::unlink(temporary_.c_str());
    throw_run("{}: cannot write: {}", file_.string(), why);
  }
}

}  // namespace tunemix
