// SPDX-License-Identifier: BSD-2-Clause
// Peers that stop or die, in the middle of whatever they do.
