/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks symbols up as programs do that load the library themselves (NCCL, RCCL, Mooncake, PyTorch) and pin versions with
 * dlvsym. dispatch_test.cc has the places of the ops that such programs call inline.
 *
 *   dlvsym LIBRARY GOLDEN_SYMBOLS [NEWEST]
 *
 * Each "name@VERSION" of the golden file must be there, versions of one name must be different functions, and dlsym must
 * give the newest. NEWEST limits this to the versions up to IBVERBS_1.NEWEST. Exits with 1 where something is otherwise.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 512 };

static struct symbol {
    char name[64];
    char version[32];
    int minor;
    void *address;
} symbols[MOST];

static size_t count;
static int failures;

static void fail(const struct symbol *symbol, const char *why)
{
    printf("FAILED: %s@%s %s\n", symbol->name, symbol->version, why);
    ++failures;
}

static bool read_symbols(const char *path, int newest)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        return false;
    }
    for (char line[128]; count < MOST && fgets(line, sizeof line, file) != NULL;) {
        struct symbol *symbol = &symbols[count];
        if (sscanf(line, "%63[^@#\n]@%31s", symbol->name, symbol->version) == 2 &&
            sscanf(symbol->version, "IBVERBS_1.%d", &symbol->minor) == 1 && symbol->minor <= newest)
            ++count;
    }
    fclose(file);
    return true;
}

/* Programs cannot be linked to it any more: it has no default version. */
static bool is_retired(const struct symbol *symbol)
{
    return strcmp(symbol->name, "ibv_register_driver") == 0;
}

/* Whether another version of the symbol is newer. */
static bool is_outdated(const struct symbol *symbol)
{
    for (size_t i = 0; i < count; ++i)
        if (strcmp(symbols[i].name, symbol->name) == 0 && symbols[i].minor > symbol->minor)
            return true;
    return false;
}

static void check(void *library, struct symbol *symbol)
{
    symbol->address = dlvsym(library, symbol->name, symbol->version);
    if (symbol->address == NULL) {
        fail(symbol, "is not there");
        return;
    }
    for (const struct symbol *other = symbols; other < symbol; ++other)
        if (strcmp(other->name, symbol->name) == 0 && other->address == symbol->address)
            fail(symbol, "is the same function as another version");
    const bool is_old = is_outdated(symbol) || is_retired(symbol);
    if ((dlsym(library, symbol->name) == symbol->address) == is_old)
        fail(symbol, is_old ? "is what dlsym finds" : "is not what dlsym finds");
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s LIBRARY GOLDEN_SYMBOLS [NEWEST]\n", argv[0]);
        return 2;
    }
    if (!read_symbols(argv[2], argc > 3 ? atoi(argv[3]) : 1000))
        return 2;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    for (size_t i = 0; i < count; ++i)
        check(library, &symbols[i]);
    if (dlvsym(library, "ibv_reg_mr", "IBVERBS_1.5") != NULL) {
        printf("FAILED: a version that ibv_reg_mr never had is there\n");
        ++failures;
    }
    printf("%zu symbols looked up, %d failures\n", count, failures);
    return failures != 0 || count == 0;
}
