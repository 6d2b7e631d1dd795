// SPDX-License-Identifier: BSD-2-Clause
// What libFuzzer does, in small, for compilers without it: NAME_fuzz RUNS SEED-FOLDER runs the target on each seed, and
// RUNS times on a mutated one. The same seeds give the same runs.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

/// Memory of exactly that size, so that a sanitizer sees each byte that is read beyond it.
void run(const Bytes &input)
{
    auto *copy = static_cast<uint8_t *>(malloc(input.size()));
    if (!input.empty())
        std::copy(input.begin(), input.end(), copy);
    LLVMFuzzerTestOneInput(copy, input.size());
    free(copy);
}

void mutate(Bytes &bytes, std::mt19937 &random)
{
    auto position = [&] { return static_cast<ptrdiff_t>(random() % (bytes.size() + 1)); };
    switch (random() % 5) {
        case 0:
            bytes.insert(bytes.begin() + position(), static_cast<uint8_t>(random()));
            break;
        case 1:
            bytes.resize(static_cast<size_t>(position()));
            break;
        case 2:
            if (!bytes.empty())
                bytes[random() % bytes.size()] ^= static_cast<uint8_t>(1u << random() % 8);
            break;
        case 3: {
            constexpr uint8_t kTelling[] = {0, 1, 3, 4, 5, '\n', '#', '/', 0x7f, 0x80, 0xff};
            if (!bytes.empty())
                bytes[random() % bytes.size()] = kTelling[random() % sizeof kTelling];
            break;
        }
        default: {
            Bytes part(bytes.begin() + position() / 2, bytes.end());
            bytes.insert(bytes.end(), part.begin(), part.end());
            if (bytes.size() > 2048)
                bytes.resize(2048);
        }
    }
}

}  // namespace

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: %s RUNS SEED-FOLDER\n", argv[0]);
        return 2;
    }
    std::vector<Bytes> seeds;
    for (const auto &entry : std::filesystem::directory_iterator(argv[2])) {
        std::ifstream file(entry.path(), std::ios::binary);
        seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    if (seeds.empty()) {
        fprintf(stderr, "%s has no seeds\n", argv[2]);
        return 2;
    }
    std::sort(seeds.begin(), seeds.end());
    for (const Bytes &seed : seeds)
        run(seed);

    std::mt19937 random(1);
    for (long left = strtol(argv[1], nullptr, 10); left > 0; --left) {
        Bytes bytes = seeds[random() % seeds.size()];
        for (unsigned steps = random() % 8; steps-- > 0;)
            mutate(bytes, random);
        run(bytes);
    }
}
