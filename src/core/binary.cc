#include "tunemix/core/binary.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "tunemix/core/hash.h"

namespace tunemix {
namespace {

constexpr char kMagic[8] = {'T', 'U', 'N', 'E', 'M', 'I', 'X', '\n'};

// Of the whole file: magic, then this header, the kind, the stored payload, and a checksum of all before it.
struct Header {
  uint32_t container_version;
  uint32_t kind_size;
  uint32_t version;
  uint32_t compression;
  uint64_t payload_size;
  uint64_t stored_size;
};
constexpr uint32_t kContainerVersion = 1;
constexpr uint64_t kMostPayload = 1ULL << 40;

std::string describe_errno() { return std::generic_category().message(errno); }

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

void write_all(int fd, std::span<const uint8_t> bytes, const std::filesystem::path& path) {
  size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t n = ::write(fd, bytes.data() + at, bytes.size() - at);
    if (n < 0) {
      if (errno == EINTR) continue;
      throw_run("{}: cannot write: {}", path.string(), describe_errno());
    }
    at += static_cast<size_t>(n);
  }
}

std::vector<uint8_t> read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in || std::filesystem::is_directory(path)) throw_input("{}: cannot open the file", path.string());
  std::vector<uint8_t> bytes(static_cast<size_t>(in.tellg()));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) throw_input("{}: cannot read the file", path.string());
  return bytes;
}

}  // namespace

size_t BinaryReader::get_count(size_t item_size) {
  const auto count = get<uint64_t>();
  if (count > (bytes_.size() - at_) / item_size) fail("a length runs past the end");
  return count;
}

void BinaryReader::expect_end() const {
  if (at_ != bytes_.size()) fail("there is more data than expected");
}

void BinaryReader::fail(std::string_view what) const { throw_input("{}: damaged file: {}", source_, what); }

const uint8_t* BinaryReader::take(size_t size) {
  if (size > bytes_.size() - at_) fail("it ends too early");
  const uint8_t* p = bytes_.data() + at_;
  at_ += size;
  return p;
}

void write_artifact(const std::filesystem::path& path, std::string_view kind, uint32_t version,
                    std::span<const uint8_t> payload, Compression compression) {
  std::vector<uint8_t> compressed;
  std::span<const uint8_t> stored = payload;
  if (compression == Compression::kZstd) {
    compressed.resize(ZSTD_compressBound(payload.size()));
    const size_t size =
        ZSTD_compress(compressed.data(), compressed.size(), payload.data(), payload.size(), 1);
    require(ZSTD_isError(size) == 0, "zstd compression failed");
    stored = std::span<const uint8_t>(compressed.data(), size);
  }
  BinaryWriter out;
  for (const char c : kMagic) out.put(c);
  out.put(kContainerVersion);
  out.put(static_cast<uint32_t>(kind.size()));
  out.put(version);
  out.put(static_cast<uint32_t>(compression));
  out.put<uint64_t>(payload.size());
  out.put<uint64_t>(stored.size());
  for (const char c : kind) out.put(c);
  std::vector<uint8_t> file(out.bytes().begin(), out.bytes().end());
  file.insert(file.end(), stored.begin(), stored.end());
  const uint64_t sum = checksum64(file.data(), file.size());
  const auto* p = reinterpret_cast<const uint8_t*>(&sum);
  file.insert(file.end(), p, p + sizeof sum);
  write_file_atomically(path, file);
}

Artifact read_artifact(const std::filesystem::path& path) {
  const std::vector<uint8_t> file = read_bytes(path);
  const std::string name = path.string();
  constexpr size_t kFixed = sizeof kMagic + sizeof(Header);
  if (file.size() < sizeof kMagic || std::memcmp(file.data(), kMagic, sizeof kMagic) != 0)
    throw_input("{}: not a TuneMix file", name);
  if (file.size() < kFixed + sizeof(uint64_t)) throw_input("{}: damaged file: it ends too early", name);
  Header header;
  std::memcpy(&header, file.data() + sizeof kMagic, sizeof header);
  if (header.container_version != kContainerVersion)
    throw_input("{}: written in container format {}; this program reads format {}", name,
                header.container_version, kContainerVersion);
  const size_t body = file.size() - kFixed - sizeof(uint64_t);
  if (header.kind_size > body || header.stored_size != body - header.kind_size ||
      header.payload_size > kMostPayload)
    throw_input("{}: damaged file: its length is not what its header says", name);
  uint64_t sum = 0;
  std::memcpy(&sum, file.data() + file.size() - sizeof sum, sizeof sum);
  if (sum != checksum64(file.data(), file.size() - sizeof sum))
    throw_input("{}: damaged file: wrong checksum", name);

  Artifact artifact;
  artifact.version = header.version;
  artifact.kind.assign(reinterpret_cast<const char*>(file.data()) + kFixed, header.kind_size);
  const uint8_t* stored = file.data() + kFixed + header.kind_size;
  if (header.compression == static_cast<uint32_t>(Compression::kZstd)) {
    artifact.payload.resize(header.payload_size);
    const size_t size =
        ZSTD_decompress(artifact.payload.data(), artifact.payload.size(), stored, header.stored_size);
    if (ZSTD_isError(size) != 0 || size != header.payload_size)
      throw_input("{}: damaged file: cannot decompress", name);
  } else {
    artifact.payload.assign(stored, stored + header.stored_size);
  }
  return artifact;
}

Artifact read_artifact(const std::filesystem::path& path, std::string_view kind, uint32_t newest) {
  Artifact artifact = read_artifact(path);
  if (artifact.kind != kind) throw_input("{}: holds '{}'; expected '{}'", path.string(), artifact.kind, kind);
  if (artifact.version > newest)
    throw_input("{}: {} of version {}; this program reads up to version {}", path.string(), kind,
                artifact.version, newest);
  return artifact;
}

void write_file_atomically(const std::filesystem::path& path, std::span<const uint8_t> bytes) {
  static std::atomic<uint64_t> counter{0};
  const std::filesystem::path directory = path.has_parent_path() ? path.parent_path() : ".";
  std::filesystem::path temporary = path;
  temporary += fmt::format(".{}.{}.tmp", ::getpid(), counter.fetch_add(1));
  try {
    const FileDescriptor fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (fd.get() < 0) throw_run("{}: cannot create the file: {}", path.string(), describe_errno());
    write_all(fd.get(), bytes, path);
    if (::fsync(fd.get()) != 0) throw_run("{}: cannot sync: {}", path.string(), describe_errno());
    if (::rename(temporary.c_str(), path.c_str()) != 0)
      throw_run("{}: cannot rename into place: {}", path.string(), describe_errno());
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  // The rename itself must survive a power cut too.
  const FileDescriptor parent(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.get() >= 0) ::fsync(parent.get());
}

void write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  write_file_atomically(path, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

std::string read_text_file(const std::filesystem::path& path) {
  const std::vector<uint8_t> bytes = read_bytes(path);
  return {bytes.begin(), bytes.end()};
}

}  // namespace tunemix
