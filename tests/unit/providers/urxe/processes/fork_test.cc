// SPDX-License-Identifier: BSD-2-Clause
// Programs that fork or exec with open devices, and what is left when they close them.
