// Package trace records what a rank does and when, and makes a timeline of it that Perfetto and chrome://tracing open.
//
// A Recorder is one rank's. It has tracks, which the timeline shows. Whoever owns a track appends records
// of a fixed size to it. A goroutine of the recorder writes them to the rank's part file. Write makes the timeline of
// the parts of all ranks.
//
// All methods of a nil *Recorder and of a nil *Track do nothing: that is what a rank without a timeline has.
package trace
