package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/golci/golci/bench/crossing"
	"github.com/golci/golci/cmd/golci/internal/launch"
	"github.com/golci/golci/internal/job/boot"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/observe/tool"
	"github.com/golci/golci/internal/platform/affinity"
	"github.com/golci/golci/internal/platform/simd"
	"github.com/golci/golci/internal/platform/topology"
	"github.com/golci/golci/mpi"
	"github.com/golci/golci/rank"
)

type infoCmd struct {
	All  bool `help:"Show all settings, not only those that are needed first and those that are set."`
	JSON bool `name:"json" help:"Print settings, conduits and all other facts as one JSON object."`
}

// Run prints the report. A setting that cannot be read is printed as an error, after everything else.
func (c infoCmd) Run() error {
	if c.JSON {
		return infoJSON(os.Stdout)
	}
	return writeInfo(os.Stdout, c.All)
}

func writeInfo(out io.Writer, all bool) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	m := topology.Read()
	infoSystem(w)
	infoProcessor(w, topology.ReadProcessor())
	infoCPUs(w, m)
	infoCrossing(w, m)
	infoSchemes(w, m)
	infoKernel(w)
	infoLauncher(w)
	a, wrong := allocation()
	infoAllocation(w, a, wrong)
	err := infoSettings(w, all)
	if e := w.Flush(); err == nil {
		err = e
	}
	return err
}

func infoSystem(w io.Writer) {
	fmt.Fprintf(w, "system\t%s/%s, %s, GOMAXPROCS %d\n", runtime.GOOS, runtime.GOARCH, runtime.Version(), runtime.GOMAXPROCS(0))
}

// infoProcessor tells, too, where the layouts of the module do not fit the processor.
func infoProcessor(w io.Writer, p topology.Processor) {
	name := cmp.Or(p.Name, "unknown")
	if p.Level > 0 {
		name += fmt.Sprintf(", x86-64-v%d", p.Level)
	}
	fmt.Fprintf(w, "processor\t%s\n", name)
	fmt.Fprintf(w, "reductions\t%s\n", simd.Chosen())
	note := ""
	if p.Line > topology.LayoutLine {
		note = ": neighbours share a line, which costs time"
	}
	fmt.Fprintf(w, "cache line\t%d bytes; layouts assume %d%s\n", p.Line, topology.LayoutLine, note)
}

func infoCPUs(w io.Writer, m topology.Map) {
	ids := affinity.Get()
	fmt.Fprintf(w, "CPUs usable\t%d: %s\n", len(ids), topology.FormatList(ids))
	fmt.Fprintf(w, "topology\t%d socket(s), %d core(s), %d NUMA node(s)\n",
		m.Count(func(c topology.CPU) int { return c.Package }), len(m.Cores()),
		m.Count(func(c topology.CPU) int { return c.Node }))
	for _, c := range m.Caches {
		fmt.Fprintf(w, "cache L%d %s\t", c.Level, strings.ToLower(c.Type))
		if c.Count == 0 {
			fmt.Fprintf(w, "%s, lines of %d bytes\n", bytesText(c.Bytes), c.Line)
			continue
		}
		fmt.Fprintf(w, "%d x %s, lines of %d bytes, shared by %d CPU(s)\n", c.Count, bytesText(c.Bytes), c.Line, c.Shared)
	}
}

// infoCrossing measures between the first core and its nearest and farthest neighbour.
func infoCrossing(w io.Writer, m topology.Map) {
	cores := m.Cores()
	if len(cores) < 2 {
		fmt.Fprintf(w, "line crossing\tnot measured: one core\n")
		return
	}
	for _, i := range slices.Compact([]int{1, len(cores) - 1}) {
		a, b := cores[0][0], cores[i][0]
		if ns, err := crossing.Between(a, b); err != nil {
			fmt.Fprintf(w, "line crossing\tnot measured: %v\n", err)
		} else {
			fmt.Fprintf(w, "line crossing\t%.0f ns one way between CPU %d and CPU %d, now\n", ns, a, b)
		}
	}
}

func infoKernel(w io.Writer) {
	for _, f := range kernelFeatures() {
		text := "yes"
		if f.err != nil {
			text = "no: " + f.err.Error()
		}
		if f.note != "" {
			text += " (" + f.note + ")"
		}
		fmt.Fprintf(w, "kernel %s\t%s\n", f.name, text)
	}
	for _, c := range conduits() {
		fmt.Fprintf(w, "conduit %s\t%s\n", c.Name, c.Text)
	}
}

// carrier is a conduit and its reach on this machine.
type carrier struct {
	Name   string `json:"name"`
	Usable bool   `json:"usable"`
	Text   string `json:"text"`
}

func conduits() (out []carrier) {
	for _, c := range rank.Conduits() {
		text := "yes: " + c.Reach
		if c.Way != "" {
			text += " (" + c.Way + ")"
		}
		if c.Lacks != nil {
			text = "no: " + c.Lacks.Error()
		}
		out = append(out, carrier{c.Name, c.Lacks == nil, text})
	}
	return out
}

// feature is one thing the kernel may offer.
type feature struct {
	name string
	note string
	err  error // why it is not usable; nil if it is
}

func infoLauncher(w io.Writer) {
	name, rank, size, err := boot.Detect(os.LookupEnv)
	switch {
	case err != nil:
		fmt.Fprintf(w, "launcher\t%v\n", err)
	case name == boot.LauncherSingle:
		fmt.Fprintf(w, "launcher\tnone: a program started here is a job of one rank\n")
	default:
		fmt.Fprintf(w, "launcher\t%s, rank %d of %d\n", name, rank, size)
	}
}

func infoSettings(w io.Writer, all bool) error {
	set, err := settings.Parse(os.LookupEnv)
	if err != nil {
		return err
	}
	if err := infoThreads(w); err != nil {
		return err
	}
	if err := infoEager(w, set); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nsetting\tvalue\tdefault\tkind\tmeaning\n")
	left, known := 0, tool.Controls()
	for i, s := range set.List() {
		if !all && !s.Set && known[i].Verbosity != tool.UserBasic {
			left++
			continue
		}
		mark := ""
		if s.Set {
			mark = " *"
		}
		fmt.Fprintf(w, "%s\t%s%s\t%s\t%s\t%s\n", s.Env, s.Value, mark, s.Default, s.Kind, s.Doc)
	}
	fmt.Fprintf(w, "* from the environment\n")
	if left > 0 {
		fmt.Fprintf(w, "%d more: golci info -all\n", left)
	}
	for _, text := range settings.Unknown(os.Environ()) {
		fmt.Fprintln(w, text)
	}
	if all {
		infoCounters(w)
	}
	return nil
}

// infoCounters lists what a rank counts. Only a running rank has values.
func infoCounters(w io.Writer) {
	fmt.Fprintf(w, "\ncounter\tclass\tcategory\tmeaning\n")
	for _, c := range counterReports() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", c.Name, c.Class, c.Category, c.Doc)
	}
}

// infoThreads prints the kind of a rank's threads, and why they are no coroutines if they should be.
func infoThreads(w io.Writer) error {
	r, err := threads()
	if err != nil {
		return err
	}
	if r.Why != "" {
		r.Kind += ", not coroutines: " + r.Why
	}
	fmt.Fprintf(w, "threads\t%s\n", r.Kind)
	return nil
}

func threads() (threadsReport, error) {
	kind, why, err := mpi.ThreadKind()
	r := threadsReport{Kind: kind.String()}
	if why != nil {
		r.Why = why.Error()
	}
	return r, err
}

// eagerSizes are the sizes of jobs whose eager limits are shown: large jobs lend each peer less.
var eagerSizes = []int{2, 1024, launch.MaxRanks}

// infoEager shows the largest message that a rank sends without asking its receiver first.
func infoEager(w io.Writer, set *settings.Set) error {
	var text []string
	last := 0
	for _, size := range eagerSizes {
		limit, err := mpi.EagerLimit(size)
		if err != nil {
			return err
		}
		if limit != last {
			text = append(text, fmt.Sprintf("%s in a job of %d ranks", bytesText(int64(limit)), size))
		}
		last = limit
	}
	fmt.Fprintf(w, "eager limit\t%s; %s\n", strings.Join(text, ", "), eagerFrom(set))
	return nil
}

func eagerFrom(set *settings.Set) string {
	if n := settings.Eager.Get(set); n > 0 {
		return fmt.Sprintf("%s is %s, within what one record holds", settings.Eager.Env(), bytesText(n))
	}
	return fmt.Sprintf("chosen: %s is 0, %s is %s", settings.Eager.Env(), settings.FlowControl.Env(), settings.FlowControl.Get(set))
}

// bytesText writes a size with the largest unit that divides it.
func bytesText(n int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.size && n%u.size == 0 {
			return fmt.Sprintf("%d %s", n/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}
