/* The binary of every FMU that Poinsot exports, for FMI 2.0 and 3.0 co-simulation.

   An instance is a Python process of its own, which runs the model (instance.py). Each call of the
   standard becomes a request to it, and its reply the result of the call:

       request   u32 size, u8 operation, data
       reply     u32 size, i32 status, u32 length of a message, the message, data

   all in the byte order of the machine; the sizes count what follows them. Operations are those of
   server.py. A host needs no Python of its own, and nothing that it has loaded gets in the way.

   Signatures follow the standard; of functions that always fail only the first arguments are named,
   which the calling conventions of all platforms allow, since callers remove their arguments. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32
#include <windows.h>
#define EXPORT __declspec(dllexport)
#define SEPARATOR "\\"
#else
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#define EXPORT __attribute__((visibility("default")))
#define SEPARATOR "/"
extern char **environ;
#endif

#define MODULE "poinsot.fmi.server"
#define VARIABLE "POINSOT_PYTHON"

typedef enum { CALL_OK, CALL_WARNING, CALL_DISCARD, CALL_ERROR, CALL_FATAL } Status;
typedef enum {
    ASK_SETUP = 1, ASK_ENTER, ASK_EXIT, ASK_GET, ASK_SET, ASK_STEP, ASK_TERMINATE, ASK_RESET,
    ASK_SAVE, ASK_RESTORE, ASK_FORGET, ASK_PACK, ASK_UNPACK
} Operation;

typedef void (*Logger2)(void *, const char *, int, const char *, const char *, ...);
typedef void (*Logger3)(void *, int, const char *, const char *);

typedef struct {
    char *name;
    void *environment;
    Logger2 logger2;
    Logger3 logger3;
    char *data;             /* a request, and then its reply */
    size_t size, room, at;
    double reached;         /* where the last step ended [s] */
    int dead, stopped;
#ifdef _WIN32
    HANDLE process, to, from;
#else
    pid_t process;
    int socket;
#endif
} Instance;

static void say(Instance *self, Status status, const char *message)
{
    static const char *const categories[] = {
        "logEvents", "logStatusWarning", "logStatusDiscard", "logStatusError", "logStatusFatal"
    };
    if (self->logger2)
        self->logger2(self->environment, self->name, status, categories[status], "%s", message);
    if (self->logger3)
        self->logger3(self->environment, status, categories[status], message);
}

static Status fail(Instance *self, const char *what)
{
    char text[128];
    if (!self) return CALL_ERROR;
    snprintf(text, sizeof text, "%s: FMUs of Poinsot have no such thing", what);
    say(self, CALL_ERROR, text);
    return CALL_ERROR;
}

/* -- the process ------------------------------------------------------------------------------ */

#ifdef _WIN32

static wchar_t *wide(const char *text)
{
    int count = MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0);
    wchar_t *found = malloc(count * sizeof *found);
    if (found) MultiByteToWideChar(CP_UTF8, 0, text, -1, found, count);
    return found;
}

static int exists(const char *path)
{
    wchar_t *name = wide(path);
    DWORD found = name ? GetFileAttributesW(name) : INVALID_FILE_ATTRIBUTES;
    free(name);
    return found != INVALID_FILE_ATTRIBUTES;
}

static int start(Instance *self, const char *python, const char *resources)
{
    SECURITY_ATTRIBUTES shared = {sizeof shared, NULL, TRUE};
    HANDLE input, output;
    STARTUPINFOW how = {0};
    PROCESS_INFORMATION process;
    size_t size = strlen(python) + strlen(resources) + 64;
    char *line = malloc(size);
    wchar_t *command;
    BOOL started;
    if (!line || !CreatePipe(&input, &self->to, &shared, 0)) return 0;
    if (!CreatePipe(&self->from, &output, &shared, 0)) return 0;
    SetHandleInformation(self->to, HANDLE_FLAG_INHERIT, 0);
    SetHandleInformation(self->from, HANDLE_FLAG_INHERIT, 0);
    how.cb = sizeof how;
    how.dwFlags = STARTF_USESTDHANDLES;
    how.hStdInput = input;
    how.hStdOutput = output;
    how.hStdError = GetStdHandle(STD_ERROR_HANDLE);
    snprintf(line, size, "\"%s\" -P -m " MODULE " \"%s\"", python, resources);
    command = wide(line);
    started = CreateProcessW(
        NULL, command, NULL, NULL, TRUE, CREATE_NO_WINDOW, NULL, NULL, &how, &process);
    free(command);
    free(line);
    CloseHandle(input);
    CloseHandle(output);
    if (!started) {
        CloseHandle(self->to);
        CloseHandle(self->from);
        return 0;
    }
    CloseHandle(process.hThread);
    self->process = process.hProcess;
    return 1;
}

static void end(Instance *self)
{
    CloseHandle(self->to);
    CloseHandle(self->from);
    WaitForSingleObject(self->process, INFINITE);
    CloseHandle(self->process);
}

static int send_all(Instance *self, const char *data, size_t size)
{
    DWORD done;
    for (; size; data += done, size -= done)
        if (!WriteFile(self->to, data, (DWORD)size, &done, NULL)) return 0;
    return 1;
}

static int receive_all(Instance *self, char *data, size_t size)
{
    DWORD done;
    for (; size; data += done, size -= done)
        if (!ReadFile(self->from, data, (DWORD)size, &done, NULL) || !done) return 0;
    return 1;
}

#else

static int exists(const char *path)
{
    return access(path, X_OK) == 0;
}

static int start(Instance *self, const char *python, const char *resources)
{
    const char *arguments[] = {python, "-P", "-m", MODULE, resources, NULL};
    posix_spawn_file_actions_t actions;
    int pair[2], failed;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) return 0;
    fcntl(pair[0], F_SETFD, FD_CLOEXEC);
    fcntl(pair[1], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pair[1], 0);
    posix_spawn_file_actions_adddup2(&actions, pair[1], 1);
    failed = posix_spawnp(
        &self->process, python, &actions, NULL, (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pair[1]);
    if (failed) {
        close(pair[0]);
        return 0;
    }
    self->socket = pair[0];
#ifdef SO_NOSIGPIPE
    setsockopt(self->socket, SOL_SOCKET, SO_NOSIGPIPE, &(int){1}, sizeof(int));
#endif
    return 1;
}

static void end(Instance *self)
{
    close(self->socket);
    while (waitpid(self->process, NULL, 0) < 0 && errno == EINTR) {}
}

static int send_all(Instance *self, const char *data, size_t size)
{
#ifdef MSG_NOSIGNAL
    const int flags = MSG_NOSIGNAL;
#else
    const int flags = 0;
#endif
    while (size) {
        ssize_t done = send(self->socket, data, size, flags);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return 0;
        data += done;
        size -= (size_t)done;
    }
    return 1;
}

static int receive_all(Instance *self, char *data, size_t size)
{
    while (size) {
        ssize_t done = recv(self->socket, data, size, 0);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return 0;
        data += done;
        size -= (size_t)done;
    }
    return 1;
}

#endif

/* -- requests and replies --------------------------------------------------------------------- */

static int reserve(Instance *self, size_t size)
{
    char *data;
    if (size <= self->room) return 1;
    data = realloc(self->data, 2 * size);
    if (!data) return 0;
    self->data = data;
    self->room = 2 * size;
    return 1;
}

static void put(Instance *self, const void *data, size_t size)
{
    if (!size || !reserve(self, self->size + size)) return;
    memcpy(self->data + self->size, data, size);
    self->size += size;
}

static void begin(Instance *self, Operation operation)
{
    char code = (char)operation;
    self->size = 0;
    put(self, "\0\0\0\0", 4);
    put(self, &code, 1);
}

/* Copy the next bytes of a reply; zeros where it is too short. */
static void take(Instance *self, void *data, size_t size)
{
    size_t left = self->size - self->at, found = size < left ? size : left;
    memset(data, 0, size);
    if (found) memcpy(data, self->data + self->at, found);
    self->at += found;
}

static Status reply(Instance *self)
{
    uint32_t size = 0, length = 0;
    int32_t status = CALL_FATAL;
    char *message;
    if (!receive_all(self, (char *)&size, 4) || !reserve(self, size)
        || !receive_all(self, self->data, size)) {
        self->dead = 1;
        say(self, CALL_FATAL, "the Python process of this FMU has ended; what it said is on stderr");
        return CALL_FATAL;
    }
    self->size = size;
    self->at = 0;
    take(self, &status, 4);
    take(self, &length, 4);
    if (length && (message = malloc(length + 1))) {
        take(self, message, length);
        message[length] = 0;
        say(self, (Status)status, message);
        free(message);
    }
    return (Status)status;
}

static Status request(Instance *self)
{
    uint32_t size = (uint32_t)(self->size - 4);
    if (self->dead) return CALL_FATAL;
    memcpy(self->data, &size, 4);
    send_all(self, self->data, self->size); /* if it fails, so does the reply */
    return reply(self);
}

static Status simple(Instance *self, Operation operation)
{
    if (!self) return CALL_ERROR;
    begin(self, operation);
    return request(self);
}

/* -- what both versions of the standard have -------------------------------------------------- */

static void release(Instance *self)
{
    if (!self) return;
    end(self);
    free(self->data);
    free(self->name);
    free(self);
}

static char *joined(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s" SEPARATOR "%s", folder, name);
    return path;
}

/* Return the Python that the user names, or that exported this FMU, or any. */
static void find_python(const char *resources, char *python, size_t room)
{
    const char *named = getenv(VARIABLE);
    char *path = joined(resources, "python.txt");
    FILE *file = path ? fopen(path, "rb") : NULL;
    size_t size = file ? fread(python, 1, room - 1, file) : 0;
    if (file) fclose(file);
    free(path);
    python[size] = 0;
    if (named && *named)
        snprintf(python, room, "%s", named);
    else if (!size || !exists(python))
#ifdef _WIN32
        snprintf(python, room, "python");
#else
        snprintf(python, room, "python3");
#endif
}

static Instance *instantiate(
    const char *name, const char *resources, void *environment, Logger2 logger2, Logger3 logger3)
{
    char python[4096], text[4096 + 256];
    Instance *self = calloc(1, sizeof *self);
    if (!self) return NULL;
    self->environment = environment;
    self->logger2 = logger2;
    self->logger3 = logger3;
    self->name = malloc(strlen(name) + 1);
    if (self->name) strcpy(self->name, name);
    find_python(resources, python, sizeof python);
    if (!start(self, python, resources)) {
        snprintf(text, sizeof text,
            "'%s' cannot be started; let " VARIABLE " name a Python that has Poinsot", python);
        say(self, CALL_FATAL, text);
        free(self->name);
        free(self);
        return NULL;
    }
    if (reply(self) > CALL_WARNING) {
        snprintf(text, sizeof text,
            "'%s' does not run this FMU; let " VARIABLE " name a Python that has Poinsot", python);
        say(self, CALL_FATAL, text);
        release(self);
        return NULL;
    }
    return self;
}

static Status setup(Instance *self, double start_time, int has_stop, double stop_time)
{
    uint8_t known = has_stop != 0;
    begin(self, ASK_SETUP);
    put(self, &start_time, 8);
    put(self, &known, 1);
    put(self, &stop_time, 8);
    self->reached = start_time;
    self->stopped = 0;
    return request(self);
}

static Status get(Instance *self, const uint32_t *references, size_t count, double *values)
{
    Status status;
    if (!self) return CALL_ERROR;
    begin(self, ASK_GET);
    put(self, references, 4 * count);
    status = request(self);
    if (status <= CALL_WARNING) take(self, values, 8 * count);
    return status;
}

static Status set(Instance *self, const uint32_t *references, size_t count, const double *values)
{
    uint32_t number = (uint32_t)count;
    if (!self) return CALL_ERROR;
    begin(self, ASK_SET);
    put(self, &number, 4);
    put(self, references, 4 * count);
    put(self, values, 8 * count);
    return request(self);
}

static Status step(Instance *self, double time, double size)
{
    uint8_t stopped = 0;
    Status status;
    begin(self, ASK_STEP);
    put(self, &time, 8);
    put(self, &size, 8);
    status = request(self);
    if (status <= CALL_DISCARD) {
        take(self, &self->reached, 8);
        take(self, &stopped, 1);
        self->stopped = stopped;
    }
    return status;
}

/* States are numbers, from 1 on; what is 0 is none. */
static Status with_state(Instance *self, Operation operation, void *state)
{
    uint64_t number = (uint64_t)(uintptr_t)state;
    if (!self) return CALL_ERROR;
    begin(self, operation);
    put(self, &number, 8);
    return request(self);
}

static void take_state(Instance *self, void **state)
{
    uint64_t number;
    take(self, &number, 8);
    *state = (void *)(uintptr_t)number;
}

static Status save(Instance *self, void **state)
{
    Status status = with_state(self, ASK_SAVE, *state);
    if (status <= CALL_WARNING) take_state(self, state);
    return status;
}

static Status forget(Instance *self, void **state)
{
    Status status = state && *state ? with_state(self, ASK_FORGET, *state) : CALL_OK;
    if (state) *state = NULL;
    return status;
}

static Status pack(Instance *self, void *state, void *bytes, size_t *size)
{
    Status status = with_state(self, ASK_PACK, state);
    if (status > CALL_WARNING) return status;
    if (bytes) take(self, bytes, *size);
    else *size = self->size - self->at;
    return status;
}

static Status unpack(Instance *self, const void *bytes, size_t size, void **state)
{
    Status status;
    if (!self) return CALL_ERROR;
    begin(self, ASK_UNPACK);
    put(self, bytes, size);
    status = request(self);
    if (status <= CALL_WARNING) take_state(self, state);
    return status;
}

/* -- FMI 2.0 ---------------------------------------------------------------------------------- */

typedef struct {
    Logger2 logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*step_finished)(void *, int);
    void *environment;
} Callbacks2;

static int digit(char letter)
{
    if (letter >= '0' && letter <= '9') return letter - '0';
    if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
    if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
    return -1;
}

/* Write the path of a URI such as file:///models/an%20fmu; it is no longer than that. */
static void path_of(const char *uri, char *path)
{
    if (!strncmp(uri, "file:", 5)) uri += 5;
    if (!strncmp(uri, "//localhost/", 12)) uri += 11;
    else if (!strncmp(uri, "//", 2)) uri += 2;
#ifdef _WIN32
    if (uri[0] == '/' && uri[1] && uri[2] == ':') uri++;
#endif
    while (*uri) {
        int high = *uri == '%' ? digit(uri[1]) : -1, low = high >= 0 ? digit(uri[2]) : -1;
        *path++ = low < 0 ? *uri : (char)(16 * high + low);
        uri += low < 0 ? 1 : 3;
    }
    *path = 0;
}

EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORT const char *fmi2GetVersion(void) { return "2.0"; }
EXPORT int fmi2SetDebugLogging(Instance *self) { return self ? CALL_OK : CALL_ERROR; }

EXPORT void *fmi2Instantiate(
    const char *name, int kind, const char *token, const char *resources,
    const Callbacks2 *callbacks, int visible, int logging)
{
    Instance *self;
    char *path = malloc(strlen(resources) + 1);
    (void)token, (void)visible, (void)logging;
    if (!path || kind != 1) return NULL;
    path_of(resources, path);
    self = instantiate(name, path, callbacks->environment, callbacks->logger, NULL);
    free(path);
    return self;
}

EXPORT void fmi2FreeInstance(Instance *self) { release(self); }

EXPORT int fmi2SetupExperiment(
    Instance *self, int has_tolerance, double tolerance, double start_time, int has_stop,
    double stop_time)
{
    (void)has_tolerance, (void)tolerance;
    return self ? setup(self, start_time, has_stop, stop_time) : CALL_ERROR;
}

EXPORT int fmi2EnterInitializationMode(Instance *self) { return simple(self, ASK_ENTER); }
EXPORT int fmi2ExitInitializationMode(Instance *self) { return simple(self, ASK_EXIT); }
EXPORT int fmi2Terminate(Instance *self) { return simple(self, ASK_TERMINATE); }
EXPORT int fmi2Reset(Instance *self) { return simple(self, ASK_RESET); }

EXPORT int fmi2GetReal(Instance *self, const uint32_t *references, size_t count, double *values)
{
    return get(self, references, count, values);
}

EXPORT int fmi2SetReal(
    Instance *self, const uint32_t *references, size_t count, const double *values)
{
    return set(self, references, count, values);
}

#define NONE2(name) \
    EXPORT int name(Instance *self, const uint32_t *references, size_t count) \
    { \
        (void)references; \
        return count ? fail(self, #name) : CALL_OK; \
    }
NONE2(fmi2GetInteger)
NONE2(fmi2GetBoolean)
NONE2(fmi2GetString)
NONE2(fmi2SetInteger)
NONE2(fmi2SetBoolean)
NONE2(fmi2SetString)
NONE2(fmi2SetRealInputDerivatives)
NONE2(fmi2GetRealOutputDerivatives)

EXPORT int fmi2GetFMUstate(Instance *self, void **state) { return save(self, state); }
EXPORT int fmi2SetFMUstate(Instance *self, void *state) { return with_state(self, ASK_RESTORE, state); }
EXPORT int fmi2FreeFMUstate(Instance *self, void **state) { return forget(self, state); }

EXPORT int fmi2SerializedFMUstateSize(Instance *self, void *state, size_t *size)
{
    return pack(self, state, NULL, size);
}

EXPORT int fmi2SerializeFMUstate(Instance *self, void *state, char *bytes, size_t size)
{
    return pack(self, state, bytes, &size);
}

EXPORT int fmi2DeSerializeFMUstate(Instance *self, const char *bytes, size_t size, void **state)
{
    return unpack(self, bytes, size, state);
}

EXPORT int fmi2GetDirectionalDerivative(Instance *self)
{
    return fail(self, "fmi2GetDirectionalDerivative");
}

EXPORT int fmi2DoStep(Instance *self, double time, double size, int never_back)
{
    Status status;
    (void)never_back;
    if (!self) return CALL_ERROR;
    status = step(self, time, size);
    return status <= CALL_WARNING && self->stopped ? CALL_DISCARD : status;
}

EXPORT int fmi2CancelStep(Instance *self) { return fail(self, "fmi2CancelStep"); }

EXPORT int fmi2GetStatus(Instance *self, int kind, int *value)
{
    (void)kind, (void)value;
    return fail(self, "fmi2GetStatus");
}

EXPORT int fmi2GetRealStatus(Instance *self, int kind, double *value)
{
    if (!self || kind != 2) return fail(self, "fmi2GetRealStatus");
    *value = self->reached;
    return CALL_OK;
}

EXPORT int fmi2GetIntegerStatus(Instance *self) { return fail(self, "fmi2GetIntegerStatus"); }

EXPORT int fmi2GetBooleanStatus(Instance *self, int kind, int *value)
{
    if (!self || kind != 3) return fail(self, "fmi2GetBooleanStatus");
    *value = self->stopped;
    return CALL_OK;
}

EXPORT int fmi2GetStringStatus(Instance *self) { return fail(self, "fmi2GetStringStatus"); }

/* -- FMI 3.0 ---------------------------------------------------------------------------------- */

EXPORT const char *fmi3GetVersion(void) { return "3.0"; }
EXPORT int fmi3SetDebugLogging(Instance *self) { return self ? CALL_OK : CALL_ERROR; }

EXPORT void *fmi3InstantiateCoSimulation(
    const char *name, const char *token, const char *resources, uint8_t visible, uint8_t logging,
    uint8_t event_mode, uint8_t early_return, const uint32_t *intermediate, size_t count,
    void *environment, Logger3 logger, void *update)
{
    char *path;
    size_t length;
    Instance *self;
    (void)token, (void)visible, (void)logging, (void)event_mode, (void)early_return;
    (void)intermediate, (void)count, (void)update;
    if (!resources || !(path = malloc(strlen(resources) + 1))) return NULL;
    strcpy(path, resources);
    for (length = strlen(path); length > 1 && strchr("/\\", path[length - 1]); length--)
        path[length - 1] = 0;
    self = instantiate(name, path, environment, NULL, logger);
    free(path);
    return self;
}

EXPORT void *fmi3InstantiateModelExchange(const char *name) { return (void)name, NULL; }
EXPORT void *fmi3InstantiateScheduledExecution(const char *name) { return (void)name, NULL; }
EXPORT void fmi3FreeInstance(Instance *self) { release(self); }

EXPORT int fmi3EnterInitializationMode(
    Instance *self, uint8_t has_tolerance, double tolerance, double start_time, uint8_t has_stop,
    double stop_time)
{
    Status status;
    (void)has_tolerance, (void)tolerance;
    if (!self) return CALL_ERROR;
    status = setup(self, start_time, has_stop, stop_time);
    return status <= CALL_WARNING ? simple(self, ASK_ENTER) : status;
}

EXPORT int fmi3ExitInitializationMode(Instance *self) { return simple(self, ASK_EXIT); }
EXPORT int fmi3Terminate(Instance *self) { return simple(self, ASK_TERMINATE); }
EXPORT int fmi3Reset(Instance *self) { return simple(self, ASK_RESET); }

EXPORT int fmi3GetFloat64(
    Instance *self, const uint32_t *references, size_t count, double *values, size_t room)
{
    return count == room ? get(self, references, count, values) : fail(self, "array variables");
}

EXPORT int fmi3SetFloat64(
    Instance *self, const uint32_t *references, size_t count, const double *values, size_t room)
{
    return count == room ? set(self, references, count, values) : fail(self, "array variables");
}

#define NONE3(type) NONE2(fmi3Get##type) NONE2(fmi3Set##type)
NONE3(Float32)
NONE3(Int8)
NONE3(UInt8)
NONE3(Int16)
NONE3(UInt16)
NONE3(Int32)
NONE3(UInt32)
NONE3(Int64)
NONE3(UInt64)
NONE3(Boolean)
NONE3(String)
NONE3(Binary)
NONE3(Clock)
NONE3(IntervalDecimal)
NONE3(IntervalFraction)
NONE3(ShiftDecimal)
NONE3(ShiftFraction)
NONE2(fmi3GetOutputDerivatives)

EXPORT int fmi3GetFMUState(Instance *self, void **state) { return save(self, state); }
EXPORT int fmi3SetFMUState(Instance *self, void *state) { return with_state(self, ASK_RESTORE, state); }
EXPORT int fmi3FreeFMUState(Instance *self, void **state) { return forget(self, state); }

EXPORT int fmi3SerializedFMUStateSize(Instance *self, void *state, size_t *size)
{
    return pack(self, state, NULL, size);
}

EXPORT int fmi3SerializeFMUState(Instance *self, void *state, uint8_t *bytes, size_t size)
{
    return pack(self, state, bytes, &size);
}

EXPORT int fmi3DeserializeFMUState(Instance *self, const uint8_t *bytes, size_t size, void **state)
{
    return unpack(self, bytes, size, state);
}

EXPORT int fmi3DoStep(
    Instance *self, double time, double size, uint8_t never_back, uint8_t *event,
    uint8_t *terminate, uint8_t *early, double *reached)
{
    Status status;
    (void)never_back;
    if (!self) return CALL_ERROR;
    status = step(self, time, size);
    *event = 0;
    *terminate = self->stopped != 0;
    *early = status <= CALL_WARNING && self->stopped;
    *reached = self->reached;
    return status;
}

EXPORT int fmi3EnterEventMode(Instance *self) { return fail(self, "fmi3EnterEventMode"); }
EXPORT int fmi3EnterStepMode(Instance *self) { return fail(self, "fmi3EnterStepMode"); }
EXPORT int fmi3EnterConfigurationMode(Instance *self) { return self ? CALL_OK : CALL_ERROR; }
EXPORT int fmi3ExitConfigurationMode(Instance *self) { return self ? CALL_OK : CALL_ERROR; }

#define NEVER3(name) EXPORT int name(Instance *self) { return fail(self, #name); }
NEVER3(fmi3ActivateModelPartition)
NEVER3(fmi3CompletedIntegratorStep)
NEVER3(fmi3EnterContinuousTimeMode)
NEVER3(fmi3EvaluateDiscreteStates)
NEVER3(fmi3GetAdjointDerivative)
NEVER3(fmi3GetContinuousStateDerivatives)
NEVER3(fmi3GetContinuousStates)
NEVER3(fmi3GetDirectionalDerivative)
NEVER3(fmi3GetEventIndicators)
NEVER3(fmi3GetNominalsOfContinuousStates)
NEVER3(fmi3GetNumberOfContinuousStates)
NEVER3(fmi3GetNumberOfEventIndicators)
NEVER3(fmi3GetNumberOfVariableDependencies)
NEVER3(fmi3GetVariableDependencies)
NEVER3(fmi3SetContinuousStates)
NEVER3(fmi3SetTime)
NEVER3(fmi3UpdateDiscreteStates)
