// SPDX-License-Identifier: BSD-2-Clause
// The treap behind the page map.
#include "fork/page_map.hh"

#include <cstdlib>

namespace verbs::fork {

// Mixes the address, which takes the place of a random number: the tree needs no generator, and an order of
// registrations that unbalances it does not come about by itself.
uint64_t PageMap::priority(const Node *node)
{
    uint64_t mixed = node->begin;
    mixed = (mixed ^ (mixed >> 31)) * 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 29)) * 0xd6e8feb86659fd93;
    return mixed ^ (mixed >> 32);
}

void PageMap::split(Node *tree, uintptr_t at, Node *&below, Node *&rest)
{
    if (tree == nullptr) {
        below = rest = nullptr;
    } else if (tree->begin < at) {
        split(tree->right, at, tree->right, rest);
        below = tree;
    } else {
        split(tree->left, at, below, tree->left);
        rest = tree;
    }
}

PageMap::Node *PageMap::merge(Node *below, Node *above)
{
    if (below == nullptr || above == nullptr)
        return below != nullptr ? below : above;
    if (priority(below) > priority(above)) {
        below->right = merge(below->right, above);
        return below;
    }
    above->left = merge(below, above->left);
    return above;
}

void PageMap::insert(Node *node)
{
    Node **place = &root_;
    while (*place != nullptr && priority(*place) > priority(node))
        place = node->begin < (*place)->begin ? &(*place)->left : &(*place)->right;
    split(*place, node->begin, node->left, node->right);
    *place = node;
    ++run_count_;
}

void PageMap::erase(uintptr_t begin)
{
    Node **place = &root_;
    while ((*place)->begin != begin)
        place = begin < (*place)->begin ? &(*place)->left : &(*place)->right;
    Node *node = *place;
    *place = merge(node->left, node->right);
    --run_count_;
    recycle(node);
}

PageMap::Node *PageMap::find(uintptr_t address) const
{
    Node *found = nullptr;
    for (Node *node = root_; node != nullptr;) {
        if (node->begin <= address)
            found = node;
        node = node->begin <= address ? node->right : node->left;
    }
    return found;
}

PageMap::Node *PageMap::next(uintptr_t address) const
{
    Node *found = nullptr;
    for (Node *node = root_; node != nullptr;) {
        if (node->begin > address)
            found = node;
        node = node->begin > address ? node->left : node->right;
    }
    return found;
}

PageMap::State PageMap::state_at(uintptr_t address) const
{
    const Node *node = find(address);
    return node != nullptr ? node->state : State{};
}

PageMap::Run PageMap::run_at(uintptr_t address) const
{
    const Node *node = find(address);
    const Node *after = next(address);
    return {node != nullptr ? node->begin : 0, after != nullptr ? after->begin : UINTPTR_MAX,
            node != nullptr ? node->state : State{}};
}

void PageMap::divide(uintptr_t at)
{
    const Node *node = find(at);
    if (node != nullptr && node->begin == at)
        return;
    Node *fresh = spare_;
    spare_ = fresh->left;
    --spare_count_;
    *fresh = {at, node != nullptr ? node->state : State{}, nullptr, nullptr};
    insert(fresh);
}

// Removes the nodes from first to last that change nothing.
void PageMap::join(uintptr_t first, uintptr_t last)
{
    State before = first > 0 ? state_at(first - 1) : State{};
    for (Node *node = find(first); node != nullptr && node->begin <= last;) {
        uintptr_t begin = node->begin;
        if (node->state == before)
            erase(begin);
        else
            before = node->state;
        node = next(begin);
    }
}

bool PageMap::reserve(size_t updates)
{
    while (spare_count_ < updates * kNodesPerUpdate) {
        Node *node = static_cast<Node *>(std::malloc(sizeof *node));
        if (node == nullptr)
            return false;
        recycle(node);
    }
    return true;
}

void PageMap::trim(size_t updates)
{
    while (spare_count_ > updates * kNodesPerUpdate) {
        Node *node = spare_;
        spare_ = node->left;
        --spare_count_;
        std::free(node);
    }
}

void PageMap::recycle(Node *node)
{
    node->left = spare_;
    spare_ = node;
    ++spare_count_;
}

void PageMap::clear()
{
    while (root_ != nullptr)
        erase(root_->begin);
    trim(0);
}

}  // namespace verbs::fork
