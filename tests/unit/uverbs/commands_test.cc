// SPDX-License-Identifier: BSD-2-Clause
// What holds for every command: its bytes in each form, which form is used when, errors.
#include "commands.hh"

namespace verbs::uverbs::test {

TEST_P(Commands, UsesItsMethodWhereTheKernelHasAll)
{
    const Command &command = GetParam();
    EXPECT_EQ(command.issue(channel), 0);
    EXPECT_EQ(kernel.take(), command.method.empty() ? command.invoked : command.method);
}

TEST_P(Commands, IsInvokedAsAWriteCommandWhereThereIsNoMethod)
{
    const Command &command = GetParam();
    kernel.no_methods = true;
    EXPECT_EQ(command.issue(channel), command.invoked.empty() ? EPROTONOSUPPORT : 0);
    std::string log = kernel.take();
    if (command.invoked.empty()) {
        EXPECT_EQ(log.substr(0, command.method.size()), command.method);
        EXPECT_TRUE(log == command.method || log == command.method + probe(command.method)) << log;
        return;
    }
    EXPECT_EQ(log, command.method + probe(command.method) + command.invoked);
    EXPECT_EQ(command.issue(channel), 0);
    EXPECT_EQ(kernel.take(), command.invoked) << "the method is not asked for again";
}

TEST_P(Commands, IsWrittenWhereThereIsNoIoctl)
{
    const Command &command = GetParam();
    kernel.no_ioctl = true;
    EXPECT_EQ(command.issue(channel), command.written.empty() ? ENOTTY : 0);
    EXPECT_EQ(kernel.take(), (command.method.empty() ? command.invoked : command.method) + command.written);
    if (command.written.empty())
        return;
    EXPECT_EQ(command.issue(channel), 0);
    EXPECT_EQ(kernel.take(), command.written) << "the ioctl is not asked for again";
}

TEST_P(Commands, PassesErrorsOn)
{
    const Command &command = GetParam();
    for (int error : {EINVAL, ENOMEM, EOPNOTSUPP, EBUSY, EIO, EPERM, ENODEV}) {
        kernel.error = error;
        EXPECT_EQ(command.issue(channel), error);
        EXPECT_EQ(kernel.take(), command.method.empty() ? command.invoked : command.method)
            << "and tries no other form";
    }
    // An error is no refusal: the next one is issued as the first was.
    kernel.error = 0;
    EXPECT_EQ(command.issue(channel), 0);
    EXPECT_EQ(kernel.take(), command.method.empty() ? command.invoked : command.method);
}

TEST_P(Commands, TakesADriversRefusalForNoMore)
{
    const Command &command = GetParam();
    const std::string &issued = command.method.empty() ? command.invoked : command.method;
    for (int error : {EPROTONOSUPPORT, ENOTTY, EPROTONOSUPPORT}) {
        kernel.error = error;
        EXPECT_EQ(command.issue(channel), error);
        std::string log = kernel.take();
        EXPECT_TRUE(log == issued || log == issued + probe(issued)) << log;
        kernel.error = 0;
        EXPECT_EQ(command.issue(channel), 0);
        EXPECT_EQ(kernel.take(), issued) << "it goes on as it was";
    }
}

TEST_P(Commands, PassesErrorsOfWriteOn)
{
    const Command &command = GetParam();
    kernel.no_ioctl = true;
    kernel.write_error = EINVAL;
    EXPECT_EQ(command.issue(channel), command.written.empty() ? ENOTTY : EINVAL);
}

}  // namespace verbs::uverbs::test
