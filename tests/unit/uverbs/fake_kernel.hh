// SPDX-License-Identifier: BSD-2-Clause
// A kernel in place of the system calls: it writes down each command in words, and answers as it is told to.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>

#include "uverbs/channel.hh"

namespace verbs::uverbs::test {

/// The words for a command, for comparison with what a FakeKernel wrote down. Hexadecimal digits may be spaced.
/// The order of attributes does not count, as it does not for the kernel.
std::string ioctl(uint16_t object, uint16_t method, std::initializer_list<std::string> attributes);
std::string write(const std::string &bytes);

/// A command without attributes, of the method of the ioctl that the words are for: it asks whether there is
/// the method.
std::string probe(const std::string &ioctl);

/// The ioctl that carries a write command: its request, the size of its answer, and the driver's parts.
std::string invoke(uint32_t command, const std::string &request, size_t answer_size = 0,
                   const std::string &driver_request = "", size_t driver_answer_size = 0);

/// Attributes: an object or a file by number (0 for one to be made), bytes to the kernel, room for an answer.
std::string object(uint16_t id, uint64_t number);
std::string in(uint16_t id, const std::string &bytes);
std::string out(uint16_t id, size_t size);
/// Bytes of the kind `element` of a kernel enum.
std::string kind(uint16_t id, uint8_t element, const std::string &bytes);
/// One that older kernels may ignore.
std::string optional(const std::string &attribute);

/// Bytes from hexadecimal digits, which may be spaced.
std::string bytes(const std::string &digits);

/// One at a time may exist, as a Channel's calls know no context.
class FakeKernel {
public:
    static constexpr int kFd = 77;
    static constexpr uint32_t kDriver = 5;

    FakeKernel();
    FakeKernel(const FakeKernel &) = delete;
    FakeKernel &operator=(const FakeKernel &) = delete;
    ~FakeKernel();

    static const SystemCalls calls;

    /// The commands since the last call, in words, one after the other.
    std::string take();

    // What the kernel does not have, from now on. Each answers with the errno value that kernels use.
    bool no_ioctl = false;    ///< ENOTTY
    bool no_methods = false;  ///< EPROTONOSUPPORT for every method but the one that carries write commands
    std::optional<Method> missing;  ///< EPROTONOSUPPORT for this method
    int write_error = 0;            ///< of every write

    int error = 0;  ///< of every command that the kernel knows

    // Answers to commands that succeed; what is not mentioned is zero.
    uint64_t new_object = 0;                  ///< number of objects and files that are made
    std::map<uint16_t, std::string> answers;  ///< bytes by attribute, for any method
    std::string written;                      ///< bytes to answer a write command with
    bool writes_on_failure = false;           ///< a write command is answered even when it fails

private:
    friend struct Calls;
    int on_ioctl(int fd, unsigned long request, void *argument);
    ssize_t on_write(int fd, const void *buffer, size_t size);

    std::string log_;
};

}  // namespace verbs::uverbs::test
