package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/golci/golci/internal/abi"
)

const collStart = "/* " + abi.Generated + ` */

/* The bodies of all collectives: each gives its arguments to one function. */
`

// collectives are the functions whose bodies hand a struct coll on, by their names without I and _init.
var collectives = []string{
	"Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall", "Alltoallv",
	"Alltoallw", "Reduce", "Allreduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan",
	"Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall", "Neighbor_alltoallv", "Neighbor_alltoallw",
}

// collPlaces says where an argument goes, by its name.
var collPlaces = map[string]string{
	"buffer": "out.mem", "sendbuf": "in.mem", "recvbuf": "out.mem", "sendcount": "in.n", "recvcount": "out.n",
	"sendcounts": "in.counts", "recvcounts": "out.counts", "sdispls": "in.displs", "rdispls": "out.displs",
	"sendtype": "in.type", "recvtype": "out.type", "sendtypes": "in.types", "recvtypes": "out.types", "root": "root",
	"op": "op",
}

// collKind is the name of the collective that f is a form of; "" if it is none. ending is of the function to call.
func collKind(f *abi.Function) (name, ending string) {
	name, ending = f.Name, "call"
	switch short, lasts := strings.CutSuffix(name, "_init"); {
	case lasts:
		name, ending = short, "init"
	case name[0] == 'I':
		name, ending = strings.ToUpper(name[1:2])+name[2:], "start"
	}
	if !slices.Contains(collectives, name) {
		return "", ""
	}
	return name, ending
}

// collBodies is the C text with the bodies of the collectives that are not in have. It adds them to have.
func collBodies(t *abi.Table, have map[string]bool) []byte {
	var b strings.Builder
	b.WriteString(collStart)
	for i := range t.Functions {
		f := &t.Functions[i]
		name, ending := collKind(f)
		if name == "" {
			continue
		}
		for _, large := range []bool{true, false} {
			full := f.Name
			if large {
				full += "_c"
			}
			if large && !f.Large() || have[full] || !large && narrow(f, have) {
				continue
			}
			have[full] = true
			b.WriteByte('\n')
			abi.Wrap(&b, fmt.Sprintf("ABI_BODY(int, %s, (", full), f.Params(large), "))")
			writeColl(&b, f, name, ending, large)
		}
	}
	return []byte(b.String())
}

func writeColl(b *strings.Builder, f *abi.Function, name, ending string, large bool) {
	fields := []string{".kind = kind_" + strings.ToLower(name)}
	counts, displs, last := false, false, ""
	for _, a := range f.Args {
		fields = append(fields, collFields(a.Name, name)...)
		counts = counts || a.Many && a.Kind == "count" && large
		displs = displs || a.Many && (a.Kind == "displ" && large || a.Kind == "aint")
		if a.Name == "request" {
			last = ", request"
		}
	}
	if counts {
		fields = append(fields, ".wide_counts = 1")
	}
	if displs {
		fields = append(fields, ".wide_displs = 1")
	}
	abi.Wrap(b, "{\n    struct coll x = {", strings.Join(fields, ", "), "};")
	fmt.Fprintf(b, "    return coll_%s(&x, comm%s);\n}\n", ending, last)
}

// collFields are the fields that an argument sets. A count and a type that both buffers have are set twice.
func collFields(arg, name string) []string {
	switch place := collPlaces[arg]; {
	case strings.HasSuffix(place, ".mem"):
		return []string{"." + place + " = (void *)" + arg}
	case place != "":
		return []string{"." + place + " = " + arg}
	case arg == "displs" && name == "Scatterv":
		return []string{".in.displs = displs"}
	case arg == "displs":
		return []string{".out.displs = displs"}
	case arg == "count":
		return []string{".in.n = count", ".out.n = count"}
	case arg == "datatype":
		return []string{".in.type = datatype", ".out.type = datatype"}
	}
	return nil
}
