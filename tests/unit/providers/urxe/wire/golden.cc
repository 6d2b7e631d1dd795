// SPDX-License-Identifier: BSD-2-Clause
// The files say in their first lines what theirs mean.
#include "golden.hh"

#include <arpa/inet.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace urxe::wire::test {

namespace {

/// Pairs of digits; what stands before a star is repeated.
Bytes from_hex(const std::string &word)
{
    Bytes bytes;
    size_t star = std::min(word.find('*'), word.size());
    for (size_t i = 0; i + 1 < star; i += 2)
        bytes.push_back(static_cast<uint8_t>(std::stoul(word.substr(i, 2), nullptr, 16)));
    if (star == word.size())
        return bytes;
    return Bytes(std::stoul(word.substr(star + 1)), bytes.at(0));
}

template <typename Use>
void for_lines(const char *name, Use &&use)
{
    std::ifstream file(std::string(GOLDEN "/") + name);
    size_t lines = 0;
    for (std::string line; std::getline(file, line);) {
        if (line.empty() || line[0] == '#')
            continue;
        use(line);
        ++lines;
    }
    if (lines == 0)
        throw std::runtime_error(std::string(name) + " has no packets");
}

Golden golden_of(const std::string &line)
{
    std::istringstream words(line);
    Golden golden{};
    words >> golden.transport >> golden.operation >> golden.place >> golden.direction >> golden.length;
    golden.length.pop_back();
    size_t ends[3] = {};
    size_t part = 0;
    for (std::string word; words >> word;) {
        if (word == "|") {
            ends[part++] = golden.bytes.size();
            continue;
        }
        Bytes more = from_hex(word);
        golden.bytes.insert(golden.bytes.end(), more.begin(), more.end());
    }
    golden.headers_size = ends[0];
    golden.payload_size = ends[1] - ends[0];
    golden.bytes.insert(golden.bytes.end(), kIcrcSize, 0);
    return golden;
}

Address address_of(const std::string &text)
{
    Address address{};
    std::string mapped = text.find(':') == std::string::npos ? "::ffff:" + text : text;
    if (inet_pton(AF_INET6, mapped.c_str(), address.data()) != 1)
        throw std::runtime_error(text + " is no address");
    return address;
}

}  // namespace

const std::vector<Golden> &golden_packets()
{
    static const std::vector<Golden> packets = [] {
        std::vector<Golden> all;
        for_lines("opcodes.txt", [&all](const std::string &line) { all.push_back(golden_of(line)); });
        return all;
    }();
    return packets;
}

std::vector<Recorded> recorded_packets()
{
    std::vector<Recorded> all;
    for_lines("rxe.txt", [&all](const std::string &line) {
        std::istringstream words(line);
        std::string source, destination, bytes;
        Recorded recorded{};
        words >> source >> destination >> recorded.flow.source_port >> recorded.flow.destination_port >>
            recorded.identification >> bytes;
        recorded.line = line.substr(0, 100);
        recorded.flow.source = address_of(source);
        recorded.flow.destination = address_of(destination);
        recorded.bytes = from_hex(bytes);
        all.push_back(recorded);
    });
    return all;
}

}  // namespace urxe::wire::test
