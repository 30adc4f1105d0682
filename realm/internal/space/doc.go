// Package space describes data: the points that there are (Space), the bytes of each of them (Layout), and how bytes
// move between two layouts (Plan, Cursor). Each value of these types but Cursor never changes once it is made. It
// does no input or output, starts nothing and takes no lock.
//
// A space and a layout travel between ranks. What decodes them checks every number, so that bytes from another rank can
// neither panic nor reach outside the memory they describe.
package space
