#include "tunemix/core/binary.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <xxhash.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>

#include "tunemix/core/large_artifact.h"

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
  uint64_t key_high;
  uint64_t key_low;
};
constexpr uint32_t kContainerVersion = 2;

std::vector<uint8_t> header_bytes(std::string_view kind, uint32_t version, Compression compression,
                                  uint64_t payload_size, uint64_t stored_size, const Hash128& key) {
  BinaryWriter out;
  for (const char c : kMagic) out.put(c);
  out.put(kContainerVersion);
  out.put(static_cast<uint32_t>(kind.size()));
  out.put(version);
  out.put(static_cast<uint32_t>(compression));
  out.put(payload_size);
  out.put(stored_size);
  out.put(key.high);
  out.put(key.low);
  for (const char c : kind) out.put(c);
  return {out.bytes().begin(), out.bytes().end()};
}

// The parts of a file that was found whole.
struct CheckedFile {
  std::string kind;
  uint32_t version = 0;
  Hash128 key;
  bool plain = true;  // not compressed
  uint64_t payload_size = 0;
  std::span<const uint8_t> stored;
};

// What zstd can at most make of some bytes: a block of 128 KiB takes four.
uint64_t most_decompressed(uint64_t stored) { return (stored / 4 + 1) * (uint64_t{1} << 17); }

// Memory grows with what really comes out, whatever the header claims.
std::vector<uint8_t> decompress(std::span<const uint8_t> stored, uint64_t size, const std::string& name) {
  const auto damaged = [&] { throw_input("{}: damaged file: cannot decompress", name); };
  if (size > most_decompressed(stored.size())) damaged();
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(),
                                                                        ZSTD_freeDStream);
  if (stream == nullptr) throw std::bad_alloc();
  std::vector<uint8_t> payload(std::min<uint64_t>(size, (stored.size() << 6) + (1 << 16)));
  ZSTD_inBuffer in{stored.data(), stored.size(), 0};
  for (size_t filled = 0;;) {
    ZSTD_outBuffer out{payload.data(), payload.size(), filled};
    const size_t status = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_getErrorCode(status) == ZSTD_error_memory_allocation) throw std::bad_alloc();
    if (ZSTD_isError(status) != 0) damaged();
    const bool stuck = out.pos == filled && (in.pos == in.size || payload.size() == size);
    filled = out.pos;
    if (status == 0) {
      if (filled != size || in.pos != in.size) damaged();
      return payload;
    }
    if (stuck) damaged();
    if (filled == payload.size()) payload.resize(std::min<uint64_t>(size, 2 * payload.size()));
  }
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

std::vector<uint8_t> artifact_bytes(std::string_view kind, uint32_t version, std::span<const uint8_t> payload,
                                    Compression compression, const Hash128& key) {
  std::vector<uint8_t> compressed;
  std::span<const uint8_t> stored = payload;
  if (compression == Compression::kZstd) {
    compressed.resize(ZSTD_compressBound(payload.size()));
    const size_t size =
        ZSTD_compress(compressed.data(), compressed.size(), payload.data(), payload.size(), 1);
    if (ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation) throw std::bad_alloc();
    require(ZSTD_isError(size) == 0, "zstd compression failed");
    stored = std::span<const uint8_t>(compressed.data(), size);
  }
  std::vector<uint8_t> file = header_bytes(kind, version, compression, payload.size(), stored.size(), key);
  file.insert(file.end(), stored.begin(), stored.end());
  const uint64_t sum = checksum64(file.data(), file.size());
  const auto* p = reinterpret_cast<const uint8_t*>(&sum);
  file.insert(file.end(), p, p + sizeof sum);
  return file;
}

void write_artifact(const std::filesystem::path& path, std::string_view kind, uint32_t version,
                    std::span<const uint8_t> payload, Compression compression, const Hash128& key) {
  write_user_file(path, artifact_bytes(kind, version, payload, compression, key));
}

namespace {

CheckedFile check_file(std::span<const uint8_t> file, const std::string& name) {
  constexpr size_t kFixed = sizeof kMagic + sizeof(Header);
  if (file.size() < sizeof kMagic || std::memcmp(file.data(), kMagic, sizeof kMagic) != 0)
    throw_input("{}: not a TuneMix file", name);
  uint32_t container = 0;
  if (file.size() >= sizeof kMagic + sizeof container)
    std::memcpy(&container, file.data() + sizeof kMagic, sizeof container);
  if (container != kContainerVersion && file.size() >= sizeof kMagic + sizeof container)
    throw_input("{}: written in container format {}; this program reads format {}", name, container,
                kContainerVersion);
  if (file.size() < kFixed + sizeof(uint64_t)) throw_input("{}: damaged file: it ends too early", name);
  Header header;
  std::memcpy(&header, file.data() + sizeof kMagic, sizeof header);
  const size_t body = file.size() - kFixed - sizeof(uint64_t);
  const bool plain = header.compression == static_cast<uint32_t>(Compression::kNone);
  if (header.kind_size > body || header.stored_size != body - header.kind_size ||
      (plain && header.payload_size != header.stored_size))
    throw_input("{}: damaged file: its length is not what its header says", name);
  uint64_t sum = 0;
  std::memcpy(&sum, file.data() + file.size() - sizeof sum, sizeof sum);
  if (sum != checksum64(file.data(), file.size() - sizeof sum))
    throw_input("{}: damaged file: wrong checksum", name);
  if (!plain && header.compression != static_cast<uint32_t>(Compression::kZstd))
    throw_input("{}: damaged file: an unknown compression", name);

  const std::span<const uint8_t> kind = file.subspan(kFixed, header.kind_size);
  return {{kind.begin(), kind.end()},
          header.version,
          {header.key_high, header.key_low},
          plain,
          header.payload_size,
          file.subspan(kFixed + header.kind_size, header.stored_size)};
}

}  // namespace

Artifact parse_artifact(std::span<const uint8_t> file, const std::string& name) {
  const CheckedFile checked = check_file(file, name);
  Artifact artifact{checked.kind, checked.version, checked.key, {}};
  if (checked.plain)
    artifact.payload.assign(checked.stored.begin(), checked.stored.end());
  else
    artifact.payload = decompress(checked.stored, checked.payload_size, name);
  return artifact;
}

uint64_t payload_size(std::span<const uint8_t> file, const std::string& name) {
  return check_file(file, name).payload_size;
}

void write_large_artifact(const std::filesystem::path& path, std::string_view kind, uint32_t version,
                          std::span<const std::span<const uint8_t>> parts, const Hash128& key,
                          const std::filesystem::path& folder) {
  uint64_t size = 0;
  for (const auto& part : parts) size += part.size();
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> sum(XXH3_createState(),
                                                                            XXH3_freeState);
  if (sum == nullptr) throw std::bad_alloc();
  XXH3_64bits_reset(sum.get());
  AtomicFile file(path, folder);
  const auto write = [&](std::span<const uint8_t> bytes) {
    XXH3_64bits_update(sum.get(), bytes.data(), bytes.size());
    file.write(bytes);
  };
  write(header_bytes(kind, version, Compression::kNone, size, size, key));
  for (const auto& part : parts) write(part);
  const uint64_t digest = XXH3_64bits_digest(sum.get());
  file.write({reinterpret_cast<const uint8_t*>(&digest), sizeof digest});
  file.commit();
}

MappedArtifact::MappedArtifact(const std::filesystem::path& path) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (fd.get() < 0 || ::fstat(fd.get(), &info) != 0) throw_file_error(path, "cannot open the file", errno);
  size_ = static_cast<size_t>(info.st_size);
  if (size_ == 0) throw_input("{}: damaged file: it is empty", path.string());
  mapped_ = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (mapped_ == MAP_FAILED) throw_file_error(path, "cannot map the file", errno);
  try {
    CheckedFile checked = check_file({static_cast<const uint8_t*>(mapped_), size_}, path.string());
    if (!checked.plain) throw_input("{}: a compressed file; expected one that can be mapped", path.string());
    kind_ = std::move(checked.kind);
    version_ = checked.version;
    key_ = checked.key;
    payload_ = checked.stored;
  } catch (...) {
    ::munmap(mapped_, size_);
    throw;
  }
}

MappedArtifact::~MappedArtifact() { ::munmap(mapped_, size_); }

Artifact read_artifact(const std::filesystem::path& path) {
  return parse_artifact(read_file(path), path.string());
}

Artifact read_artifact(const std::filesystem::path& path, std::string_view kind, uint32_t newest) {
  Artifact artifact = read_artifact(path);
  expect_artifact(artifact, path.string(), kind, newest);
  return artifact;
}

void expect_artifact(const Artifact& artifact, const std::string& name, std::string_view kind,
                     uint32_t newest) {
  if (artifact.kind != kind) throw_input("{}: holds '{}'; expected '{}'", name, artifact.kind, kind);
  if (artifact.version > newest)
    throw_input("{}: {} of version {}; this program reads up to version {}", name, kind, artifact.version,
                newest);
}

}  // namespace tunemix
