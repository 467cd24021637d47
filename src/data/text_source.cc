#include "data/text_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <vector>

#include "tunemix/core/error.h"
#include "tunemix/core/file.h"
#include "tunemix/data/text_file.h"

namespace tunemix {
namespace {

constexpr size_t kInputBytes = size_t{1} << 18;

class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path)
      : name_(path == "-" ? "standard input" : path.string()),
        fd_(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                        : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_.get() < 0) {
      const int error = errno;
      if (path != "-") expect_readable(path);
      throw_file_error(name_, "cannot open", error);
    }
    struct stat info {};
    if (::fstat(fd_.get(), &info) != 0) throw_file_error(name_, "cannot read", errno);
    if (S_ISDIR(info.st_mode)) throw_input("{}: it is a folder; expected a file", name_);
    // Standard input may stand in the middle of a file.
    seekable_ = S_ISREG(info.st_mode) && path != "-";
  }

  const std::string& name() const { return name_; }
  bool seekable() const { return seekable_; }

  size_t read(char* to, size_t size) {
    return all(to, size, [&](char* p, size_t n, size_t) { return ::read(fd_.get(), p, n); });
  }
  size_t read_at(char* to, size_t size, size_t offset) const {
    return all(to, size, [&](char* p, size_t n, size_t done) {
      return ::pread(fd_.get(), p, n, static_cast<off_t>(offset + done));
    });
  }

 private:
  template <typename Read>
  size_t all(char* to, size_t size, Read&& read_some) const {
    size_t done = 0;
    while (done < size) {
      const ssize_t n = read_some(to + done, size - done, done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) throw_file_error(name_, "cannot read", errno);
      if (n == 0) break;
      done += static_cast<size_t>(n);
    }
    return done;
  }

  std::string name_;
  FileDescriptor fd_;
  bool seekable_ = false;
};

class PlainSource : public TextSource {
 public:
  PlainSource(InputFile file, std::string head) : file_(std::move(file)), head_(std::move(head)) {}

  size_t read(char* to, size_t size, ThreadPool& pool) override {
    if (!file_.seekable()) {
      const size_t from_head = std::min(size, head_.size());
      std::memcpy(to, head_.data(), from_head);
      head_.erase(0, from_head);
      return from_head + file_.read(to + from_head, size - from_head);
    }
    constexpr size_t kPiece = size_t{1} << 19;
    std::vector<size_t> got((size + kPiece - 1) / kPiece);
    pool.run(got.size(), [&](size_t i) {
      got[i] = file_.read_at(to + i * kPiece, std::min(kPiece, size - i * kPiece), at_ + i * kPiece);
    });
    size_t total = 0;
    for (const size_t n : got) {
      total += n;
      if (n < kPiece) break;
    }
    at_ += total;
    return total;
  }

 private:
  InputFile file_;
  std::string head_;
  size_t at_ = 0;
};

// What the two decompressors share: a window on the compressed bytes.
class CompressedSource : public TextSource {
 protected:
  CompressedSource(InputFile file, std::string head) : file_(std::move(file)), input_(std::move(head)) {
    input_size_ = input_.size();
    input_.resize(std::max(kInputBytes, input_size_));
  }
  bool refill() {
    input_size_ = file_.read(input_.data(), input_.size());
    return input_size_ > 0;
  }
  [[noreturn]] void fail(const char* what) const { throw_input("{}: {}", file_.name(), what); }

  InputFile file_;
  std::string input_;
  size_t input_size_ = 0;
};

class GzipSource : public CompressedSource {
 public:
  GzipSource(InputFile file, std::string head) : CompressedSource(std::move(file), std::move(head)) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
    offer_input();
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  size_t read(char* to, size_t size, ThreadPool&) override {
    size_t done = 0;
    while (done < size) {
      if (stream_.avail_in == 0) {
        if (!refill()) {
          if (inside_member_) fail("gzip data is cut off, expected a whole file");
          break;
        }
        offer_input();
      }
      if (!inside_member_) {  // another member follows
        inflateReset(&stream_);
        inside_member_ = true;
      }
      const auto room = static_cast<uInt>(std::min<size_t>(size - done, size_t{1} << 30));
      stream_.next_out = reinterpret_cast<Bytef*>(to + done);
      stream_.avail_out = room;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_MEM_ERROR) throw std::bad_alloc();
      done += room - stream_.avail_out;
      if (status == Z_STREAM_END)
        inside_member_ = false;
      else if (status != Z_OK && status != Z_BUF_ERROR)
        fail("gzip data is damaged, expected a whole file");
    }
    return done;
  }

 private:
  void offer_input() {
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(input_size_);
  }
  z_stream stream_{};
  bool inside_member_ = true;
};

class ZstdSource : public CompressedSource {
 public:
  ZstdSource(InputFile file, std::string head)
      : CompressedSource(std::move(file), std::move(head)), stream_(ZSTD_createDStream(), ZSTD_freeDStream) {
    if (stream_ == nullptr) throw std::bad_alloc();
    window_ = {input_.data(), input_size_, 0};
  }

  size_t read(char* to, size_t size, ThreadPool&) override {
    ZSTD_outBuffer out{to, size, 0};
    while (out.pos < out.size) {
      if (window_.pos == window_.size && pending_ != kMoreOutput) {
        if (!refill()) {
          if (pending_ != 0) fail("zstd data is cut off, expected a whole file");
          break;
        }
        window_ = {input_.data(), input_size_, 0};
      }
      const size_t before = out.pos;
      const size_t status = ZSTD_decompressStream(stream_.get(), &out, &window_);
      if (ZSTD_getErrorCode(status) == ZSTD_error_memory_allocation) throw std::bad_alloc();
      if (ZSTD_isError(status) != 0) fail("zstd data is damaged, expected a whole file");
      // A full output buffer may hide more of it inside the decompressor.
      pending_ = status == 0 ? 0 : (out.pos == out.size && out.pos > before ? kMoreOutput : 1);
    }
    return out.pos;
  }

 private:
  static constexpr size_t kMoreOutput = 2;
  std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream_;
  ZSTD_inBuffer window_{};
  size_t pending_ = 1;  // 0: between frames
};

}  // namespace

std::unique_ptr<TextSource> open_text(const std::filesystem::path& path) {
  InputFile file(path);
  std::string head(4, '\0');
  head.resize(file.read(head.data(), head.size()));
  if (head.empty()) throw_input("{}: the file is empty, expected at least one document", file.name());
  const bool gzip = head.starts_with("\x1f\x8b");
  const bool zstd = head.starts_with("\x28\xb5\x2f\xfd") ||
                    (head.size() == 4 && (head[0] & 0xf0) == 0x50 && head.substr(1) == "\x2a\x4d\x18");
  if (path.extension() == ".gz" && !gzip)
    throw_input("{}: is not gzip data, expected it by the name", file.name());
  if (path.extension() == ".zst" && !zstd)
    throw_input("{}: is not zstd data, expected it by the name", file.name());
  if (gzip) return std::make_unique<GzipSource>(std::move(file), std::move(head));
  if (zstd) return std::make_unique<ZstdSource>(std::move(file), std::move(head));
  return std::make_unique<PlainSource>(std::move(file), std::move(head));
}

std::string read_any_text(const std::filesystem::path& file) {
  const std::unique_ptr<TextSource> source = open_text(file);
  ThreadPool pool(1);
  std::string text;
  for (size_t size = 0, room = size_t{1} << 14;; room *= 2) {
    text.resize(room);
    size += source->read(text.data() + size, room - size, pool);
    if (size == room) continue;
    text.resize(size);
    return text;
  }
}

}  // namespace tunemix
