// Package wiring chooses the conduit that joins the ranks of a job, and opens it.
package wiring
