#include "process.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace {

bool make_pipe(Fd &read, Fd &write)
{
    int ends[2];
    if (pipe(ends) != 0) {
        return false;
    }
    read = Fd(ends[0]);
    write = Fd(ends[1]);
    return fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0;
}

} // namespace

void Fd::close() noexcept
{
    if (fd_ >= 0) {
        ::close(fd_);
        fd_ = -1;
    }
}

std::uint64_t now_ms() noexcept
{
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000000;
}

bool do_not_block(int fd) noexcept
{
    const int flags = fcntl(fd, F_GETFL);
    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

Process::Process(const std::vector<std::string> &command)
{
    Fd its_input, its_output;
    if (!make_pipe(its_input, to_) || !make_pipe(from_, its_output) || !do_not_block(to_.get()) ||
        !do_not_block(from_.get())) {
        problem_ = std::strerror(errno);
        return;
    }
    std::vector<char *> arguments;
    for (const std::string &argument : command) {
        arguments.push_back(const_cast<char *>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&files, its_input.get(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, its_output.get(), STDOUT_FILENO);
    // What is ignored here is not to be so there.
    sigset_t defaults;
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    const int error = posix_spawnp(&pid_, arguments[0], &files, &attributes, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) {
        pid_ = 0;
        problem_ = command[0] + ": " + std::strerror(error);
    }
}

bool Process::wait(std::uint64_t patience, int *status) const
{
    const std::uint64_t until = now_ms() + patience;
    for (;;) {
        const pid_t done = waitpid(pid_, status, WNOHANG);
        if (done == pid_ || (done < 0 && errno != EINTR)) {
            return true;
        }
        if (now_ms() >= until) {
            return false;
        }
        poll(nullptr, 0, 5);
    }
}

int Process::end(std::uint64_t patience)
{
    to_.close();
    int status = 0;
    if (pid_ <= 0) {
        return -1;
    }
    bool ended = wait(patience, &status);
    if (!ended) {
        kill(-pid_, SIGTERM);
        ended = wait(200, &status);
    }
    // What it has started and left behind goes as well.
    kill(-pid_, SIGKILL);
    if (!ended) {
        wait(1000, &status);
    }
    pid_ = 0;
    from_.close();
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
