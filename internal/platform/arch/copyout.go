package arch

// LongCopy is from how many bytes on CopyOut may use a string instruction. Below, its start costs more than it saves.
const LongCopy = 1536
