// A child process with pipes for its standard input and output. Nothing here knows of ACP.

#ifndef PROCESS_HPP
#define PROCESS_HPP

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

/// A file descriptor that closes itself.
class Fd {
public:
    explicit Fd(int fd = -1) noexcept : fd_(fd) {}
    Fd(Fd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd &operator=(Fd &&other) noexcept
    {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~Fd() { close(); }

    int get() const noexcept { return fd_; }
    bool is_open() const noexcept { return fd_ >= 0; }
    void close() noexcept;

private:
    int fd_;
};

/// Milliseconds on a clock that does not run backwards.
std::uint64_t now_ms() noexcept;

/// Makes a file descriptor return at once where it would wait.
bool do_not_block(int fd) noexcept;

/// A program that was started. It is a process group of its own, so that Ctrl-C in the terminal is not for it.
class Process {
public:
    /// Starts a command; `problem()` says why it did not.
    explicit Process(const std::vector<std::string> &command);
    Process(const Process &) = delete;
    Process &operator=(const Process &) = delete;
    ~Process() { end(0); }

    const std::string &problem() const noexcept { return problem_; }
    /// The ends that the parent holds, which do not block.
    Fd &to() noexcept { return to_; }
    Fd &from() noexcept { return from_; }
    /// Closes its input and gives it so many milliseconds to end by itself; then it is made to, and all that it has started
    /// ends with it. Its exit status, -1 when it has none.
    int end(std::uint64_t patience);

private:
    bool wait(std::uint64_t patience, int *status) const;

    std::string problem_{};
    pid_t pid_ = 0;
    Fd to_{};
    Fd from_{};
};

#endif
