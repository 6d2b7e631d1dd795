// SPDX-License-Identifier: BSD-2-Clause
// What is known of each page of the address space: an ordered map from runs of equal pages to their state.
#pragma once

#include <cstddef>
#include <cstdint>

namespace verbs::fork {

/// Maps every address to a state. Neighbours of equal state are one run, so memory grows with the number of
/// distinct runs, not with the number of updates. A treap over the addresses where the state changes: every
/// step takes logarithmic time. Zero-initialised, it says of all pages that they are unused. Not thread-safe.
class PageMap {
public:
    struct State {
        size_t uses;    ///< ranges in use that hold the page
        bool withheld;  ///< children do not get the page; true of every page in use
        friend bool operator==(const State &, const State &) = default;
    };

    struct Run {
        uintptr_t begin;
        uintptr_t end;  ///< UINTPTR_MAX: no change up to the top of the address space
        State state;
    };

    constexpr PageMap() = default;
    PageMap(const PageMap &) = delete;
    PageMap &operator=(const PageMap &) = delete;
    /// It lives as long as the process and gives nothing back on its way out: `clear` does.
    ~PageMap() = default;

    /// The longest run that holds `address`.
    Run run_at(uintptr_t address) const;

    /// Sees to it that memory for so many updates is set aside. False when there is none.
    bool reserve(size_t updates);

    /// Frees what is set aside for more updates than that.
    void trim(size_t updates);

    /// Replaces each state in [begin, end) by `change(state)`. Each call uses up what `reserve` set
    /// aside for one update.
    template <class Change>
    void update(uintptr_t begin, uintptr_t end, Change change)
    {
        divide(begin);
        divide(end);
        for (Node *node = find(begin); node != nullptr && node->begin < end; node = next(node->begin))
            node->state = change(node->state);
        join(begin, end);
    }

    /// Forgets everything and frees all memory.
    void clear();

    size_t run_count() const { return run_count_; }

private:
    struct Node {
        uintptr_t begin;
        State state;  // of the pages from begin to the next node
        Node *left;
        Node *right;
    };

    static uint64_t priority(const Node *node);
    static void split(Node *tree, uintptr_t at, Node *&below, Node *&rest);
    static Node *merge(Node *below, Node *above);
    void insert(Node *node);
    void erase(uintptr_t begin);

    Node *find(uintptr_t address) const;  // the last node at or below
    Node *next(uintptr_t address) const;  // the first node above
    State state_at(uintptr_t address) const;
    void divide(uintptr_t at);
    void join(uintptr_t first, uintptr_t last);
    void recycle(Node *node);

    static constexpr size_t kNodesPerUpdate = 2;
    Node *root_ = nullptr;
    Node *spare_ = nullptr;  // linked through left
    size_t spare_count_ = 0;
    size_t run_count_ = 0;
};

}  // namespace verbs::fork
