// Tests of acp_files.h, in a program that has libacp_files and not libacp: what each function does, what it does with
// arguments that are wrong, and whether a way out is found by exchanging a folder and a link all the time.
#define _GNU_SOURCE

#include <acp_files.h>

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition) check((condition), #condition, __LINE__)

static size_t passed, failed;

static void check(bool condition, const char *what, int line)
{
    if (condition) {
        passed++;
    } else {
        failed++;
        printf("FAILED files.c:%d: %s\n", line, what);
    }
}

// What became of a request: the text, or the message; 0, or the code.
typedef struct outcome {
    char text[64];
    int32_t code;
} outcome;

static outcome of(acp_status status, acp_files_answer *answer)
{
    outcome result = {"", 0};
    acp_slice text = {NULL, 0};
    if (status != ACP_OK) {
        result.code = 1;
        return result;
    }
    if (acp_files_answer_text(answer, &text) == ACP_NONE && (acp_files_answer_code(answer, &result.code) != ACP_OK ||
                                                             acp_files_answer_message(answer, &text) != ACP_OK)) {
        check(false, "a code and a message", __LINE__);
    }
    snprintf(result.text, sizeof result.text, "%.*s", (int)text.len, text.data == NULL ? "" : text.data);
    acp_files_answer_free(answer);
    return result;
}

static outcome read_one(const acp_files *files, const char *path, uint64_t line, uint64_t limit)
{
    acp_files_answer *answer = NULL;
    acp_status status = acp_files_read(files, acp_text(path), line, limit, &answer);
    return of(status, answer);
}

static outcome write_one(const acp_files *files, const char *path, const char *text)
{
    acp_files_answer *answer = NULL;
    acp_status status = acp_files_write(files, acp_text(path), acp_text(text), &answer);
    return of(status, answer);
}

static acp_files *opened(const char *root, uint64_t most, acp_files_may may, void *context)
{
    acp_slice roots = acp_text(root);
    acp_files *files = NULL;
    CHECK(acp_files_new(&roots, 1, most, may, context, &files) == ACP_OK);
    return files;
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
        perror(path);
        exit(2);
    }
}

static void test_texts(void)
{
    acp_files *files = NULL;
    acp_slice relative = acp_text("root");
    char path[512], inner[600];
    CHECK(acp_files_new(&relative, 1, 20, NULL, NULL, &files) == ACP_NONE && files == NULL);
    if (getcwd(path, sizeof path) == NULL) {
        exit(2);
    }
    snprintf(inner, sizeof inner, "%s/root", path);
    files = opened(inner, 20, NULL, NULL);
    snprintf(inner, sizeof inner, "%s/root/a/file", path);
    CHECK(write_one(files, inner, "one\ntwo\nthree").code == 0);
    CHECK(strcmp(read_one(files, inner, 0, UINT64_MAX).text, "one\ntwo\nthree") == 0);
    CHECK(strcmp(read_one(files, inner, 2, 1).text, "two\n") == 0);
    CHECK(read_one(files, inner, 2, 0).text[0] == '\0');
    CHECK(write_one(files, inner, "more than twenty bytes").code == -32602);
    CHECK(read_one(files, "/etc/hostname", 0, 1).code == -32602);
    CHECK(strcmp(read_one(files, "/etc/hostname", 0, 1).text, "The path is outside of the session's roots") == 0);
    snprintf(inner, sizeof inner, "%s/root/none", path);
    CHECK(read_one(files, inner, 0, 1).code == -32002);
    snprintf(inner, sizeof inner, "%s/root/none/../door/new", path);
    CHECK(write_one(files, inner, "owned").code == -32002 && access("root/none", F_OK) != 0);
    acp_files_free(files);
}

static bool may(void *context, acp_slice path, bool writing, acp_slice root)
{
    *(int *)context += 1;
    return root.len > 0 && !writing && acp_equal(path, acp_text("a/file"));
}

static void test_may(const char *root)
{
    int asked = 0;
    bool allowed = true;
    char path[600];
    acp_files *files = opened(root, 0, may, &asked);
    snprintf(path, sizeof path, "%s/a/file", root);
    CHECK(read_one(files, path, 1, 1).code == 0);
    CHECK(write_one(files, path, "").code == -32602);
    snprintf(path, sizeof path, "%s/b", root);
    CHECK(write_one(files, path, "").code == -32602 && access("root/b", F_OK) != 0 && asked == 3);
    acp_files_free(files);
    CHECK(acp_files_guarded(acp_text(".git/config"), true, &allowed) == ACP_OK && !allowed);
    CHECK(acp_files_guarded(acp_text(".git/config"), false, &allowed) == ACP_OK && allowed);
    files = opened(root, 0, NULL, NULL);
    snprintf(path, sizeof path, "%s/.git/config", root);
    CHECK(write_one(files, path, "").code == -32602);
    acp_files_free(files);
}

static void test_wrong(const char *root)
{
    const acp_slice none = {NULL, 0}, broken = {NULL, 1}, bytes = acp_bytes("\xff", 1);
    acp_slice roots[] = {acp_text("/no/such/folder"), broken}, text;
    acp_files *files = NULL;
    acp_files_answer *answer = NULL;
    int32_t code;
    bool allowed;
    CHECK(acp_files_new(roots, 1, 0, NULL, NULL, &files) == ACP_NONE && files == NULL);
    CHECK(acp_files_new(roots + 1, 1, 0, NULL, NULL, &files) == ACP_INVALID_ARGUMENT);
    CHECK(acp_files_new(NULL, 1, 0, NULL, NULL, &files) == ACP_INVALID_ARGUMENT);
    CHECK(acp_files_new(NULL, 0, 0, NULL, NULL, NULL) == ACP_INVALID_ARGUMENT);
    files = opened(root, 0, NULL, NULL);
    CHECK(acp_files_read(NULL, none, 0, 1, &answer) == ACP_INVALID_ARGUMENT);
    CHECK(acp_files_read(files, bytes, 0, 1, &answer) == ACP_INVALID_ARGUMENT);
    CHECK(acp_files_read(files, none, 0, 1, NULL) == ACP_INVALID_ARGUMENT);
    CHECK(acp_files_write(NULL, none, none, &answer) == ACP_INVALID_ARGUMENT);
    CHECK(acp_files_write(files, none, bytes, &answer) == ACP_INVALID_ARGUMENT);
    CHECK(acp_files_write(files, broken, none, &answer) == ACP_INVALID_ARGUMENT && answer == NULL);
    CHECK(acp_files_answer_text(NULL, &text) == ACP_INVALID_ARGUMENT);
    CHECK(acp_files_answer_code(NULL, &code) == ACP_INVALID_ARGUMENT);
    CHECK(acp_files_answer_message(NULL, &text) == ACP_INVALID_ARGUMENT);
    CHECK(acp_files_guarded(none, true, NULL) == ACP_INVALID_ARGUMENT);
    CHECK(acp_files_guarded(bytes, true, &allowed) == ACP_INVALID_ARGUMENT);
    CHECK(acp_files_read(files, none, 0, 1, &answer) == ACP_OK && acp_files_answer_text(answer, NULL) != ACP_OK);
    acp_files_answer_free(answer);
    acp_files_free(files);
    acp_files_free(NULL);
    acp_files_answer_free(NULL);
}

static volatile bool over;
static volatile size_t exchanges;

static void *flip(void *unused)
{
    // RENAME_EXCHANGE is 2.
    while (!over && syscall(SYS_renameat2, -100, "root/folder", -100, "root/door", 2U) == 0) {
        exchanges++;
    }
    return unused;
}

static void test_race(const char *root)
{
    const char *given = getenv("LIBACP_RACE_SECONDS");
    time_t now = time(NULL), end = now + (given == NULL ? 2 : (time_t)atoi(given)), last = end + 60;
    acp_files *files = opened(root, 0, NULL, NULL);
    size_t inside = 0, refused = 0, outside = 0, entries = 0;
    char path[600], text[64] = "";
    pthread_t thread;
    if (pthread_create(&thread, NULL, flip, NULL) != 0) {
        exit(2);
    }
    // Under valgrind only one thread runs at a time, and the other may wait long for its turn.
    for (size_t i = 0; now < end || (now < last && (inside == 0 || refused == 0 || exchanges <= 100)); i++) {
        now = time(NULL);
        snprintf(path, sizeof path, "%s/%s/file", root, i % 2 == 0 ? "folder" : "door");
        outcome one = read_one(files, path, 0, UINT64_MAX);
        inside += one.code == 0 && strcmp(one.text, "inside") == 0;
        outside += one.code == 0 && strcmp(one.text, "inside") != 0;
        refused += one.code != 0;
        (void)write_one(files, path, "inside");
        snprintf(path, sizeof path, "%s/door/new%zu/file", root, i % 1000);
        (void)write_one(files, path, "");
    }
    over = true;
    pthread_join(thread, NULL);
    acp_files_free(files);
    FILE *secret = fopen("outside/file", "rb");
    CHECK(secret != NULL && fread(text, 1, sizeof text - 1, secret) == 6 && strcmp(text, "secret") == 0);
    if (secret != NULL) {
        fclose(secret);
    }
    DIR *folder = opendir("outside");
    while (folder != NULL && readdir(folder) != NULL) {
        entries++;
    }
    if (folder != NULL) {
        closedir(folder);
    }
    // `.` and `..` are two of them.
    CHECK(entries == 3);
    if (inside == 0 || refused == 0 || exchanges <= 100) {
        fprintf(stderr, "read inside: %zu, refused: %zu, exchanges: %zu\n", inside, refused, exchanges);
    }
    CHECK(inside > 0 && refused > 0 && outside == 0 && exchanges > 100);
}

int main(int count, char **arguments)
{
    char root[512];
    if (count != 2 || chdir(arguments[1]) != 0 || mkdir("root", 0777) != 0 || mkdir("root/folder", 0777) != 0 ||
        mkdir("outside", 0777) != 0 || symlink("../outside", "root/door") != 0) {
        fprintf(stderr, "usage: files EMPTY-FOLDER\n");
        return 2;
    }
    put("root/folder/file", "inside");
    put("outside/file", "secret");
    if (realpath("root", root) == NULL) {
        return 2;
    }
    test_texts();
    test_may(root);
    test_wrong(root);
    test_race(root);
    printf("%zu passed, %zu failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
