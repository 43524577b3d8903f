// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/codes.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/check.h"

namespace commrig {
namespace {

using enum Code;

constexpr std::array kCodes{
    CodeInfo{kUnknownPointer, Kind::kInvalidArgument, "CR-MEM01", "pointer is not device memory",
             "Pass a pointer into memory that a device of this process has allocated",
             "Every allocation of simulated device memory is tracked. The pointer lies in none of "
             "them, neither in a live nor in a recently freed one. Host pointers, uninitialised "
             "pointers and pointers of another process look like this."},
    CodeInfo{kFreedPointer, Kind::kInvalidArgument, "CR-MEM02", "memory was freed",
             "Free a buffer only after the streams that use it have been synchronised",
             "The pointer lies in an allocation that has been freed. Freed ranges are kept in "
             "quarantine for a while so that a late use is seen instead of reading somebody "
             "else's data."},
    CodeInfo{kOutOfRange, Kind::kInvalidArgument, "CR-MEM03", "access runs past the allocation",
             "Make the buffer larger or the count smaller",
             "The access starts inside an allocation and ends outside of it. The message gives "
             "the allocation, the offset and size of the access, and the allocation's size."},
    CodeInfo{kMisaligned, Kind::kInvalidArgument, "CR-MEM04", "pointer is misaligned for its type",
             "Align the pointer to the size of the element type",
             "An element of N bytes must start at a multiple of N (16-byte elements: of 8)."},
    CodeInfo{kOutOfMemory, Kind::kExhausted, "CR-MEM05", "simulated device is out of memory",
             "Free buffers, or give the device more memory",
             "Each simulated device has a capacity; live and quarantined allocations count."},
    CodeInfo{kFreedTwice, Kind::kInvalidArgument, "CR-MEM06", "memory freed twice",
             "Free each allocation once", "The same allocation was passed to free before."},
    CodeInfo{kNotAllocationStart, Kind::kInvalidArgument, "CR-MEM07",
             "free of a pointer inside an allocation",
             "Pass the pointer that the allocation returned",
             "Only the first byte's address of an allocation can be freed."},
    CodeInfo{kZeroSize, Kind::kInvalidArgument, "CR-MEM08", "allocation or window of zero bytes",
             "Ask for at least one byte", "Zero-sized device memory does not exist."},
    CodeInfo{kBadDevice, Kind::kInvalidArgument, "CR-MEM09", "no such device",
             "Use a device number below the number of devices",
             "Devices are numbered from 0; their number is set when the machine is made."},
    CodeInfo{kUnknownKey, Kind::kInvalidArgument, "CR-MEM10", "no memory is open under this key",
             "Use the key that stands in the record of the rank whose window is meant",
             "A device reaches memory of another by an address and the key under which its owner "
             "opened it; the key ends with the window."},
    CodeInfo{kHostRange, Kind::kInvalidArgument, "CR-MEM11", "host memory that is not there",
             "Pass memory that is mapped, and that may be written where something is written to it",
             "The range lies in no memory of a device, and this process cannot read all of it, or "
             "not write it: a wild or freed pointer, a wrong size, or constant data as a target."},
    CodeInfo{kUnknownDtype, Kind::kInvalidArgument, "CR-DTY01", "unknown element type",
             "Use one of the listed element types",
             "Names: int8 int16 int32 int64 uint8 uint16 uint32 uint64 fp16 bf16 fp32 fp64 "
             "fp8_e4m3fn fp8_e5m2, and by size only: hif8 fp8_e8m0 int128."},
    CodeInfo{kNoArithmetic, Kind::kUnsupported, "CR-DTY02", "no arithmetic for this element type",
             "Move such elements without reducing or converting them",
             "Types that are known by size only can be copied and gathered; a reduction or a "
             "conversion is refused instead of being guessed."},
    CodeInfo{kUnknownReduceOp, Kind::kInvalidArgument, "CR-DTY03", "unknown reduction",
             "Use sum, prod, max or min", "Other reductions are not defined here."},
    CodeInfo{kUnknownLayout, Kind::kInvalidArgument, "CR-MC201", "unknown workspace layout",
             "Use upstream-64 or readme-112",
             "A layout names where messages and counters lie in the workspace, how large a "
             "message is, and which code numbers it uses."},
    CodeInfo{kWorkspaceTooSmall, Kind::kInvalidArgument, "CR-MC202", "workspace is too small",
             "Give a workspace of at least 2 MiB, aligned to 512 bytes",
             "The workspace must hold every region of its layout after rounding its base up to "
             "512 bytes."},
    CodeInfo{kCheckWord, Kind::kProtocol, "CR-MC203", "check word of a message is wrong",
             "Write words 0..11, 13, 14, then the check word, then the valid word",
             "The check word is the exclusive or of the first 15 words of the message, with the "
             "valid word counted as its mask. A difference means that the message was changed "
             "after it was summed, written in the wrong order, or summed in another way."},
    CodeInfo{kUnknownCommand, Kind::kProtocol, "CR-MC204", "unknown command code",
             "Use a command code of the layout in force",
             "The commType word holds a number that the layout's code table does not have."},
    CodeInfo{kUnsupportedCommand, Kind::kUnsupported, "CR-MC205", "command is not served here",
             "Use another layout or another command",
             "The command is known by name, but this layout has no way to carry it, or the server "
             "does not perform it yet."},
    CodeInfo{kBadDtypeCode, Kind::kProtocol, "CR-MC206", "bad element type in a message",
             "Use the layout's own element type codes",
             "Each layout has its own numbers for element types; readme-112 and upstream-64 "
             "differ."},
    CodeInfo{kBadOpCode, Kind::kProtocol, "CR-MC207", "bad reduction in a message",
             "Use the layout's own reduction codes",
             "A reducing command needs one of sum, prod, max, min; the device servers refuse prod, "
             "this one performs it."},
    CodeInfo{kNullBuffer, Kind::kProtocol, "CR-MC208", "null buffer in a message",
             "Fill both buffer addresses",
             "A collective needs a source and a target on each rank."},
    CodeInfo{kShortBuffer, Kind::kProtocol, "CR-MC209", "buffer in a message is not usable",
             "Allocate the buffer for all turns: (turns - 1) x count, plus the last turn's blocks",
             "The range that all turns of the message touch does not lie inside one live device "
             "allocation, or is misaligned for its element type."},
    CodeInfo{kGroupMismatch, Kind::kProtocol, "CR-MC210", "ranks disagree about an operation",
             "Let every rank submit the same operation, count, type, stride and repeat in the same "
             "order",
             "The n-th message of each rank of a group must describe the same collective. The "
             "message names the field and the ranks on each side."},
    CodeInfo{kCommitAboveRepeat, Kind::kProtocol, "CR-MC211", "more commits than turns",
             "Commit each handle as often as its repeat says",
             "The commit counter of a slot went above the number of turns that its message has."},
    CodeInfo{kRankLeft, Kind::kPeerLost, "CR-MC212", "a rank's kernel ended while others need it",
             "Let the named rank's kernel submit and commit as the others do, and finalize",
             "The kernel of one rank returned before it had committed the turn that the other "
             "ranks wait for. Found from the end of the kernel, not from a time-out."},
    CodeInfo{kRankThrew, Kind::kPeerLost, "CR-MC213", "a rank's kernel failed while others need it",
             "Mend the failure of the named rank's kernel",
             "The kernel of one rank threw an exception or returned an error; the other ranks of "
             "the group can no longer go on."},
    CodeInfo{
        kBadHandle, Kind::kInvalidArgument, "CR-MC214", "wrong handle",
        "Use a handle that a prepare call of this client returned",
        "Handles count from 0 in the order of the prepare calls; each message carries its own."},
    CodeInfo{kSlotsExhausted, Kind::kExhausted, "CR-MC215", "no message slot is left",
             "Finalize before the 64th message; group messages with repeat",
             "A kernel has 64 message slots and never wraps; the finalize message takes one too."},
    CodeInfo{kHandlesExhausted, Kind::kExhausted, "CR-MC216", "no handle is left",
             "Prepare at most 63 operations in a kernel; group them with repeat",
             "A kernel has 63 handles, 0 to 62."},
    CodeInfo{kClientState, Kind::kState, "CR-MC217", "client called in the wrong state",
             "Call init once, then prepare, commit and wait, then finalize once",
             "The client object has no context yet, has one already, or is finalized."},
    CodeInfo{kBadVersion, Kind::kProtocol, "CR-MC218", "message version is not known",
             "Write version 0, 1, 2 or 3",
             "The version byte says which form the second half of a message has."},
    CodeInfo{kRankCount, Kind::kInvalidArgument, "CR-MC219", "number of ranks is out of range",
             "Use 1 to 256 ranks",
             "The context of this generation has window addresses for 32 ranks; with more, and its "
             "multi flag set, it points to one record a rank. The protocol's tables end at 256."},
    CodeInfo{kBadContext, Kind::kInvalidArgument, "CR-MC220", "context is not usable",
             "Pass the context that the group made for this rank",
             "A field of the context (workspace address or size, rank, number of ranks) does not "
             "fit the memory it points to."},
    CodeInfo{kNoFinalize, Kind::kProtocol, "CR-MC221", "kernel ended without finalize",
             "Call finalize at the end of every kernel that called init",
             "Everything that the kernel submitted was done, but it did not say that it was the "
             "end; the next kernel would find the old counters."},
    CodeInfo{kSideMessage, Kind::kProtocol, "CR-MC222", "all-to-all-v side message is wrong",
             "Write the side message with its check word before the message",
             "The counts and offsets of an all-to-all-v lie in a side area with the same slot "
             "number and a valid and a check word of its own; the counts of sender and receiver "
             "must agree."},
    CodeInfo{
        kStalled, Kind::kProtocol, "CR-MC223", "no rank can go on",
        "Commit what the named ranks wait for",
        "The kernels of all ranks wait, the server has nothing to do, and no wait is satisfied; "
        "or a rank's kernel waits for something that it alone could bring: a turn that it did "
        "not commit, or one more than its message has. Nobody is left who could change that."},
    CodeInfo{kBuffersOverlap, Kind::kProtocol, "CR-MC224", "source and target overlap",
             "Use the exact in-place form of the operation or separate buffers",
             "Source and target share bytes in a way in which a write could destroy data that is "
             "still to be read."},
    CodeInfo{kZeroRepeat, Kind::kInvalidArgument, "CR-MC225", "repeat is out of range",
             "Use a repeat of 1 to 255", "The repeat count is one byte and at least one turn."},
    CodeInfo{kWaitAboveCommit, Kind::kState, "CR-MC226", "wait without a commit",
             "Commit before each wait",
             "The k-th wait of a handle waits for its k-th turn; that "
             "turn has not been committed by this rank."},
    CodeInfo{kStrideTooSmall, Kind::kInvalidArgument, "CR-MC227", "stride is too small",
             "Use a stride of at least count x repeat, or 0 for packed blocks",
             "The turns of one rank's block would run into the next rank's block."},
    CodeInfo{kSequenceNumber, Kind::kProtocol, "CR-MC228", "sequence number is wrong",
             "Count the prepared messages of a kernel from 0",
             "Each prepared message carries the next number, one byte wide."},
    CodeInfo{kCountZero, Kind::kInvalidArgument, "CR-MC229", "count is out of range",
             "Use a count of at least 1 that fits the address space",
             "A collective over no elements is not a message of this protocol, and count x element "
             "size x ranks x repeat must fit 64 bits."},
    CodeInfo{
        kWrongSlot, Kind::kProtocol, "CR-MC230", "message in the wrong slot",
        "Start with slot 0 in every kernel, take the next one for each message, use none twice",
        "The server looks at the slots one after the other and never goes back before the "
        "kernel has finalized. A message in another slot is not seen."},
    CodeInfo{
        kCounter, Kind::kProtocol, "CR-MC231", "counter holds what nobody may have written",
        "Write your own commit counters only; clear the finished counters after finalize",
        "The server alone counts finished turns, the kernel clears them when finalize has been "
        "answered, and commit and finished counters are 0 when a kernel starts. Other values "
        "let a wait or a turn through too early."},
    CodeInfo{
        kRankMissing, Kind::kPeerLost, "CR-MC232", "a rank's kernel never came",
        "Launch the kernel of every rank before a thread waits, each on a stream of its own",
        "All kernels of the group that run wait, a rank that they need has none, and nobody is "
        "left who could launch it: every thread of the host waits in synchronise, and all "
        "other streams are idle."},
    CodeInfo{kUnknownCollective, Kind::kInvalidArgument, "CR-COL01", "unknown collective",
             "Use one of the listed collectives",
             "Names: all-reduce reduce broadcast all-gather reduce-scatter all-to-all gather "
             "scatter, and with a count for each rank: all-gather-v reduce-scatter-v all-to-all-v "
             "gather-v scatter-v."},
    CodeInfo{kCollectiveRanks, Kind::kInvalidArgument, "CR-COL02",
             "rank or number of ranks is out of range",
             "Give at least one rank, and a rank below the number of ranks",
             "Ranks are numbered from 0 without gaps; a plan is made for at most 65536."},
    CodeInfo{kCollectiveRoot, Kind::kInvalidArgument, "CR-COL03", "no such root",
             "Give a root from 0 to the number of ranks less one",
             "Broadcast, reduce, gather and scatter have one rank that gives or gets everything."},
    CodeInfo{kCollectiveCounts, Kind::kInvalidArgument, "CR-COL04",
             "counts do not fit the collective",
             "Give one count a rank, or for all-to-all-v one for each pair of ranks",
             "The V forms take a count for each block; all-to-all-v takes them row by row, one row "
             "for each sender. Other collectives take one count and no list."},
    CodeInfo{kCollectiveSize, Kind::kInvalidArgument, "CR-COL05",
             "buffers of a collective are too large", "Make the count smaller",
             "The bytes of a buffer, or of all ranks' buffers together, are more than an address "
             "can reach; or the size of an element is 0."},
    CodeInfo{kUnknownAlgorithm, Kind::kInvalidArgument, "CR-COL06", "unknown algorithm",
             "Use one of the names that `commrig plan list` prints",
             "Each algorithm is a row of one table and has plans for some collectives."},
    CodeInfo{kSelectionText, Kind::kInvalidArgument, "CR-COL07",
             "choice of algorithms cannot be read",
             "Write rules such as all-reduce=ring@>1MiB;broadcast=chain",
             "A rule is a collective, an equals sign and an algorithm, and may end with @ and a "
             "size: <, <=, > or >=, a number, and B, KiB, MiB or GiB. Rules are separated by "
             "semicolons, and the first that fits is taken."},
    CodeInfo{kNoAlgorithm, Kind::kUnsupported, "CR-COL08", "algorithm cannot do this",
             "Choose another algorithm, or leave the choice to commrig",
             "The message says why: it has no plan for the collective, it needs shared memory, it "
             "rounds at each hop in strict mode, or the message does not fit its slots."},
    CodeInfo{kPlanStep, Kind::kProtocol, "CR-COL09", "step of a plan is malformed",
             "Mend the algorithm that made the plan",
             "A step names a rank, buffer or phase that it may not, has the wrong number of "
             "sources or targets, or its target overlaps a source in part."},
    CodeInfo{kPlanBounds, Kind::kProtocol, "CR-COL10", "step runs past the end of a buffer",
             "Mend the algorithm that made the plan",
             "The place and count of the step reach beyond the input, output or scratch of the "
             "rank."},
    CodeInfo{kPlanAddress, Kind::kProtocol, "CR-COL11",
             "buffer of a peer is used before it was told where it lies",
             "Let the plan wait for phase 1 of the peer first",
             "Where the input and output of a rank lie is known to others once it has signalled "
             "its first phase."},
    CodeInfo{kPlanUndefined, Kind::kProtocol, "CR-COL12", "step reads what nothing has written",
             "Mend the algorithm that made the plan",
             "A source lies in scratch or output into which no step of this operation has put "
             "anything."},
    CodeInfo{kPlanContents, Kind::kProtocol, "CR-COL13", "output of a plan is wrong",
             "Mend the algorithm that made the plan",
             "At the end of the operation some part of a rank's output does not hold exactly what "
             "the collective promises."},
    CodeInfo{kPlanRounding, Kind::kProtocol, "CR-COL14",
             "plan rounds more often or in another order than its algorithm claims",
             "Mend the algorithm or its row in the table",
             "An algorithm that rounds once folds the inputs of all ranks in one step, in the "
             "order of ranks. In every algorithm all ranks must get the same bits."},
    CodeInfo{kPlanRace, Kind::kProtocol, "CR-COL15",
             "two steps use the same memory without an order",
             "Put a wait, a reclaim or a drain between the two",
             "One of the two writes, and no chain of signals, waits and messages says which comes "
             "first. The caller counts as writing its buffers before and after the operation."},
    CodeInfo{kPlanMessages, Kind::kProtocol, "CR-COL16", "messages of two ranks do not match",
             "Mend the algorithm that made the plan",
             "The messages that one rank sends to another are not those that the other receives, "
             "in number, order or length."},
    CodeInfo{kPlanStuck, Kind::kProtocol, "CR-COL17", "plan cannot end",
             "Mend the algorithm that made the plan",
             "Ranks wait for one another in a circle, or one waits for a peer that has nothing "
             "left to do."},
    CodeInfo{
        kCollectiveMismatch, Kind::kProtocol, "CR-COL18", "ranks call different collectives",
        "Let all ranks make the same calls in the same order, with the same arguments",
        "All ranks of a communicator make the same collective calls in the same order. At this "
        "position they differ in the collective, count, element type, op, root or algorithm."},
    CodeInfo{
        kPeerLeft, Kind::kPeerLost, "CR-COL19", "a rank does not take part any more",
        "Let every rank make all calls before it ends",
        "A rank waits in a collective for another one that has left the communicator or died."},
    CodeInfo{kCollectiveBuffer, Kind::kInvalidArgument, "CR-COL20", "bad buffer of a collective",
             "Pass a buffer that holds all the elements",
             "A buffer is null although elements are asked for, or device memory does not hold as "
             "many as the call needs."},
    CodeInfo{kBuffersMeet, Kind::kInvalidArgument, "CR-COL21", "input and output overlap",
             "Use separate buffers, or the in-place form",
             "Input and output of a call share memory other than in the in-place form, in which "
             "the smaller one is the rank's own block of the larger one."},
    CodeInfo{kNoSuchPeer, Kind::kInvalidArgument, "CR-COL22", "no such peer",
             "Name a rank of the communicator", "A message is for a rank that does not exist."},
    CodeInfo{kCommunicatorState, Kind::kState, "CR-COL23", "communicator is not in use",
             "Make a new communicator", "The communicator was finalized or aborted before."},
    CodeInfo{kSameDevice, Kind::kState, "CR-COL24", "two ranks of a communicator on one device",
             "Set a device of its own for each rank of a host, before the communicator is made",
             "Ranks of one host that are to meet as on real devices need different ones. Mostly a "
             "process forgot to select the device of its local rank. Processes under commrig run, "
             "mpirun and torchrun all see the same devices."},
    CodeInfo{kWaitCircle, Kind::kProtocol, "CR-COL25", "ranks wait for one another",
             "Put messages that cross into one group, or let one rank send first and the other "
             "receive first",
             "Operations of a rank are done in the order of its calls. Each rank of a circle is in "
             "an operation that cannot end before the next one has come to an operation behind the "
             "one that it is in. Short messages are sent ahead and long ones are not, so that such "
             "an order may seem to work."},
    CodeInfo{kCallMissing, Kind::kProtocol, "CR-COL26", "nobody is left to make the missing call",
             "Let every rank make the call before a thread waits for it; where one thread has "
             "several ranks, put their calls into a group",
             "Every thread of the program that could make calls waits for operations, and each of "
             "these waits for a rank of this process that has not made its call, or is behind "
             "another operation that waits."},
    CodeInfo{kPeerLost, Kind::kPeerLost, "CR-NET01", "peer is gone",
             "Look at the named rank: its own output says why it ended",
             "The process of another rank has ended, or it has closed or reset its connection, "
             "while this rank still had something to do with it. Messages that had arrived whole "
             "are still delivered."},
    CodeInfo{kMessageLength, Kind::kProtocol, "CR-NET02", "message is not what was expected",
             "Let both ranks ask for the same operation with the same count and type",
             "One rank sent more or fewer bytes than the other one has room for, or elements of "
             "another type. The message is not delivered in part, and the link can't be used any "
             "more."},
    CodeInfo{kBadFrame, Kind::kProtocol, "CR-NET03", "bytes on a link are no message",
             "Make sure that both ends run the same version of commrig, and that nobody else "
             "connects to its ports",
             "Each message starts with a header that has a magic number, a sequence number and a "
             "check word. What came has a wrong one, so the other end is no commrig or the bytes "
             "were damaged on the way."},
    CodeInfo{kPeerAddress, Kind::kInvalidArgument, "CR-NET04",
             "address is not in the peer's memory",
             "Let the named rank pass memory that it has allocated and not freed",
             "Memory of another process is read through mappings of its segments or by "
             "process_vm_readv. The address lies in none of its segments, runs past the end of "
             "one, or the system says that nothing is mapped there."},
    CodeInfo{kBadUniqueId, Kind::kInvalidArgument, "CR-BOOT01", "unique id is not usable",
             "Make the id on one rank and hand all its 128 bytes, or its text, to the others",
             "A unique id is 128 bytes: a number of 8 bytes drawn by chance, the address of the "
             "root in 28 bytes, and zeros. As a text it reads 0123456789abcdef@192.0.2.1:4711. An "
             "id that is all zeros was mostly never received."},
    CodeInfo{kIdUsed, Kind::kState, "CR-BOOT02", "unique id was used before",
             "Make a new unique id for each communicator",
             "An id belongs to one communicator: its root serves each rank once. The root goes on "
             "refusing latecomers as long as it lives."},
    CodeInfo{kNoInterface, Kind::kInvalidArgument, "CR-BOOT03", "no network interface fits",
             "Name one of the listed interfaces, or unset the variable",
             "The list in NCCL_SOCKET_IFNAME holds prefixes, with = in front exact names, with ^ "
             "in front what to leave out. The message has every interface that is present, and the "
             "rule that excluded it."},
    CodeInfo{kLaunchEnvironment, Kind::kInvalidArgument, "CR-BOOT04",
             "launch environment is half set or contradicts itself",
             "Set the named variables together, or unset them all",
             "Rank and number of ranks are read from COMMRIG_RANK, torchrun, Open MPI, PMI or "
             "Slurm. A launcher that sets one of its variables sets all of them, and two launchers "
             "that are nested must agree."},
    CodeInfo{kRankTwice, Kind::kProtocol, "CR-BOOT05", "two participants have the same rank",
             "Give each process or thread a rank of its own",
             "The message names both by their addresses. Mostly a launcher's variable was "
             "overridden, or a process of an earlier run is still alive."},
    CodeInfo{kSetupMismatch, Kind::kProtocol, "CR-BOOT06", "participants disagree about the set-up",
             "Start all ranks with the same number of ranks and the same version of the library",
             "Each rank says its number and the number of ranks when it checks in, and blocks of "
             "an exchange have one length on all ranks. A check-in of another length comes from "
             "another generation of the library."},
    CodeInfo{kRankAbsent, Kind::kDeadline, "CR-BOOT07", "ranks did not come",
             "Look why the named ranks did not start, or raise the deadline",
             "The root knows who has checked in. At the deadline every rank that waits is told "
             "which others are missing."},
    CodeInfo{kRankLost, Kind::kPeerLost, "CR-BOOT08", "a rank was lost while ranks were connecting",
             "Look at the output of the named rank",
             "The connection to the rank ended before the exchange was over: its process ended, or "
             "it gave up after an error of its own."},
    CodeInfo{kRootLost, Kind::kPeerLost, "CR-BOOT09", "the root can't be reached",
             "Make a new unique id, and keep the process of its root alive until all are connected",
             "Nobody listens at the address in the unique id, or the root ended while ranks "
             "waited. An id whose communicator exists already may look like this too, since its "
             "root has done its work."},
    CodeInfo{kBadAddress, Kind::kInvalidArgument, "CR-BOOT10", "address is malformed or unknown",
             "Write IPV4:PORT, [IPV6]:PORT, [IPV6%INTERFACE]:PORT or HOST:PORT",
             "A port lies between 1 and 65535. The name of a host must be known to the system."},
    CodeInfo{kConnection, Kind::kPeerLost, "CR-BOOT11", "connection failed",
             "Look at the process on the other side, and at what lies between",
             "A connection was refused, reset or closed. The message has the address of the other "
             "side and the system's own text."},
    CodeInfo{kDeviceCode, Kind::kUnsupported, "CR-RT01", "device code is not executed",
             "Register a C++ function for the kernel, or leave the launch out",
             "Devices are simulated: kernels that were compiled for an accelerator can't run. A "
             "C++ function that was registered for a kernel runs in its place, on the stream that "
             "it was launched on."},
    CodeInfo{kNoSuchHandle, Kind::kInvalidArgument, "CR-RT02", "no such object",
             "Pass a handle that was created and has not been destroyed",
             "Streams, events and communicators are looked up in a table. The handle was destroyed "
             "before, belongs to an object of another kind, or never was one."},
    CodeInfo{kNotYet, Kind::kUnsupported, "CR-RT03", "not offered yet",
             "Use another call; docs/nccl.md lists what there is",
             "The function exists so that programs link and load. It does nothing."},
    CodeInfo{kInCallback, Kind::kState, "CR-RT04", "call from a host callback",
             "Let the callback set a flag, and make the call on another thread",
             "A function that runs on a stream must not ask that streams go on: it would wait for "
             "itself."},
    CodeInfo{kHostMemory, Kind::kInvalidArgument, "CR-RT05", "host memory in another state",
             "Register a range of host memory once, and unregister or free its start once",
             "Host memory that was allocated or registered is kept in a table by its ranges."},
    CodeInfo{kForked, Kind::kState, "CR-RT06", "the process was forked after its first call",
             "Fork before the first call of the runtime, or call exec() in the child",
             "A child has the memory of its parent, but none of the threads that do the work of "
             "the simulated devices."},
    CodeInfo{kShareHandle, Kind::kInvalidArgument, "CR-RT07",
             "handle of shared memory or of an event is not usable",
             "Take the handle in a live process of this host and user, and open it once in another",
             "A handle names an allocation or an event of the process that has made it. It can be "
             "opened by other processes of the same host and user, as long as the maker lives and "
             "has not freed it."},
    CodeInfo{kKernelThrew, Kind::kState, "CR-RUN01", "kernel threw an exception",
             "Catch it in the kernel or mend its cause",
             "An exception left a kernel or host callback. The stream carries the error until it "
             "is destroyed."},
    CodeInfo{kAborted, Kind::kAborted, "CR-RUN02", "wait was aborted",
             "Look at the first error; this one only follows from it",
             "The group or machine was aborted while the call waited."},
    CodeInfo{kDeadline, Kind::kDeadline, "CR-RUN03", "deadline passed",
             "Look at what was waited for; raise the deadline only if it was slow and not stuck",
             "A wait did not end in the time that the caller allowed."},
    CodeInfo{kBadArgument, Kind::kInvalidArgument, "CR-RUN04", "bad argument",
             "Pass what the message asks for; commands list their options by --help",
             "An option of a command or an argument of a call is unknown, malformed or out of "
             "range."},
    CodeInfo{kSystemCall, Kind::kSystem, "CR-RUN05", "the operating system refused a call",
             "Check the limits of the process (memory, descriptors, threads)",
             "The message names the call and gives the system's own text."},
    CodeInfo{kStreamFailed, Kind::kState, "CR-RUN06", "stream has failed before",
             "Read the stream's first error; make a new stream to go on",
             "The first failure on a stream is sticky: what was enqueued behind it is not run."},
    CodeInfo{kEventState, Kind::kState, "CR-RUN07", "event is not recorded or not finished",
             "Record the event on a stream and synchronise it first",
             "Elapsed time needs two events that were recorded and have been reached."},
    CodeInfo{kWrongResult, Kind::kState, "CR-RUN08", "result is outside its bound",
             "Compare the named element with the reference",
             "The operator's output differs from the exact reference by more than its bound."},
    CodeInfo{kObjectUse, Kind::kState, "CR-RUN09", "object cannot be used so",
             "Use an object until it is moved from, together with others of the same runtime; in a "
             "group, put all messages of one communicator on one stream",
             "Objects of the C++ interface may be moved; the one that was moved from is empty. A "
             "stream works for communicators of its own runtime only. The messages of a group are "
             "under way together, so they are one piece of work on one stream."},
    CodeInfo{kUnfitProgram, Kind::kUnsupported, "CR-RUN10", "program will not run as it is",
             "Change the program as the message says, and ask commrig doctor again",
             "A program reaches commrig through its shared libraries, which stand in for those of "
             "a vendor. One that has the vendor's library inside, loads it from elsewhere, or "
             "lacks a library, never does."},
};

// Row i must describe enumerator i, so that code_info is one array access.
consteval bool rows_are_in_order() {
  for (std::size_t i = 0; i < kCodes.size(); ++i) {
    if (static_cast<std::size_t>(kCodes[i].code) != i) return false;
  }
  return true;
}
static_assert(rows_are_in_order());
static_assert(kCodes.size() == static_cast<std::size_t>(kUnfitProgram) + 1);

}  // namespace

const CodeInfo& code_info(Code code) {
  const auto index = static_cast<std::size_t>(code);
  COMMRIG_CHECK(index < kCodes.size(), "a code without a row");
  return kCodes[index];
}

std::span<const CodeInfo> all_codes() {
  return kCodes;
}

const CodeInfo* find_code(std::string_view id) {
  const auto* row = std::ranges::find(kCodes, id, &CodeInfo::id);
  return row == kCodes.end() ? nullptr : row;
}

}  // namespace commrig
