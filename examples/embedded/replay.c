/* Replays a trace on a simulated storage system and prints when each request was answered.
 *
 *   cc replay.c -I../../crates/c/include -L../../target/release -lheadrace_c -o replay
 *   ./replay scenario.yaml TARGET trace.csv
 *
 * The trace has a line for each request, in order of time: its time in ns, `read`, `write`, `discard` or `flush`, its address and its bytes,
 * with commas between. A first line that does not begin with a digit is a header.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "headrace.h"

static void fail(const char *message) {
    fprintf(stderr, "replay: %s\n", message);
    exit(1);
}

static char *text_of(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) fail("the scenario cannot be read");
    char *text = NULL;
    size_t length = 0, room = 0;
    do {
        if (length + 1 >= room) text = realloc(text, room = 2 * room + 4096);
        if (!text) fail("there is no memory");
        length += fread(text + length, 1, room - length - 1, file);
    } while (!feof(file) && !ferror(file));
    text[length] = 0;
    fclose(file);
    return text;
}

/* Prints the completions until a time. */
static void collect(headrace_storage *storage, uint64_t until_ns) {
    headrace_completion done;
    do {
        if (headrace_next(storage, until_ns, &done) != HEADRACE_STATUS_OK) fail(headrace_error(storage));
        if (done.found) printf("%" PRIu64 ",%" PRIu64 ",%s\n", done.ticket, done.at_ns, done.failed ? "failed" : "ok");
    } while (done.found);
}

/* Reads a line of the trace into a request. */
static int is_request(const char *line, headrace_request *request) {
    static const char *const ops[] = {"read", "write", "discard", "flush"};
    char op[8];
    if (sscanf(line, "%" SCNu64 ",%7[a-z],%" SCNu64 ",%" SCNu64, &request->at_ns, op, &request->address,
               &request->bytes) != 4)
        return 0;
    for (request->op = 0; request->op < 4; request->op++)
        if (!strcmp(op, ops[request->op])) return 1;
    return 0;
}

int main(int count, char **words) {
    if (count != 4) fail("usage: replay SCENARIO TARGET TRACE");
    char error[4096];
    char *scenario = text_of(words[1]);
    headrace_storage *storage = headrace_load(scenario, words[1], 1, error, sizeof error);
    free(scenario);
    if (!storage) fail(error);
    headrace_request request = {0};
    if (headrace_target(storage, words[2], &request.target) != HEADRACE_STATUS_OK) fail(headrace_error(storage));
    FILE *trace = fopen(words[3], "r");
    if (!trace) fail("the trace cannot be read");
    char line[1024];
    for (int number = 1; fgets(line, sizeof line, trace); number++) {
        if (number == 1 && (line[0] < '0' || line[0] > '9')) continue;
        if (!is_request(line, &request)) {
            snprintf(error, sizeof error, "line %d of the trace is no request", number);
            fail(error);
        }
        collect(storage, request.at_ns);
        if (headrace_submit(storage, &request, NULL) != HEADRACE_STATUS_OK) fail(headrace_error(storage));
    }
    fclose(trace);
    collect(storage, UINT64_MAX);
    headrace_free(storage);
    return 0;
}
