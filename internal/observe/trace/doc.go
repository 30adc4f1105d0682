// Package trace records what a rank does and when, and makes a timeline of it that Perfetto and chrome://tracing open.
//
// A Recorder is one rank's. It has lanes, which are the tracks of the timeline. Whoever owns a lane appends records
// of a fixed size to it. A goroutine of the recorder writes them to the rank's part file. Write makes the timeline of
// the parts of all ranks.
//
// All methods of a nil *Recorder and of a nil *Lane do nothing: that is what a rank without a timeline has.
package trace
