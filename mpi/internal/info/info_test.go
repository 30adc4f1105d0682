package info

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi/internal/errs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// model is a list and a map.
type model struct {
	order  []string
	values map[string]string
}

func (m *model) set(key, value string) {
	if _, old := m.values[key]; !old {
		m.order = append(m.order, key)
	}
	m.values[key] = value
}

func (m *model) delete(key string) (found bool) {
	_, found = m.values[key]
	delete(m.values, key)
	m.order = slices.DeleteFunc(m.order, func(k string) bool { return k == key })
	return found
}

func (m *model) compare(t *testing.T, i *Info) {
	t.Helper()
	var keys []string
	for key, value := range i.allPairs() {
		keys = append(keys, key)
		if got, ok, err := i.Get(key); got != value || got != m.values[key] || !ok || err != nil {
			t.Fatalf("%q is %q, %q, %t, %v; want %q", key, value, got, ok, err, m.values[key])
		}
	}
	if !slices.Equal(keys, m.order) || i.Len() != len(m.order) {
		t.Fatalf("keys %q, number %d, want %q", keys, i.Len(), m.order)
	}
	for n, want := range m.order {
		if got, err := i.Key(n); got != want || err != nil {
			t.Fatalf("key %d is %q, %v; want %q", n, got, err, want)
		}
	}
	for _, n := range []int{-1, len(m.order)} {
		if _, err := i.Key(n); errs.Of(err) != errs.Arg {
			t.Fatalf("key %d of %d: %v", n, len(m.order), err)
		}
	}
}

// TestAgainstModel sets, deletes and copies at random.
func TestAgainstModel(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	i, m := new(Info), &model{values: make(map[string]string)}
	for n := range 3000 {
		key := fmt.Sprintf("key%d", r.IntN(12))
		switch r.IntN(4) {
		case 0:
			if got, want := errs.Of(i.Delete(key)), m.delete(key); (got == errs.Success) != want ||
				!want && got != errs.InfoNoKey {
				t.Fatalf("delete of %q: %v, want it found: %t", key, got, want)
			}
		case 1:
			other := i.Dup()
			m.compare(t, other)
			before := &model{slices.Clone(m.order), maps.Clone(m.values)}
			if r.IntN(2) == 0 {
				i, other = other, i
			}
			must(t, i.Set(key, "changed"))
			m.set(key, "changed")
			before.compare(t, other)
		default:
			value := strings.Repeat("v", n%40)
			must(t, i.Set(key, value))
			m.set(key, value)
		}
		m.compare(t, i)
		if _, ok, err := i.Get("none"); ok || err != nil {
			t.Fatal("a key that was never set is there")
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestLimits has keys and values at and beyond their limits.
func TestLimits(t *testing.T) {
	i := new(Info)
	long := strings.Repeat("k", maxKey-1)
	most := strings.Repeat("v", maxVal-1)
	must(t, i.Set(long, most))
	if got, ok, err := i.Get(long); got != most || !ok || err != nil {
		t.Errorf("the longest value has %d bytes, %t, %v", len(got), ok, err)
	}
	must(t, i.Set("empty", ""))
	if got, ok, err := i.Get("empty"); got != "" || !ok || err != nil {
		t.Errorf("an empty value is %q, %t, %v", got, ok, err)
	}
	for _, key := range []string{"", long + "k", "a\x00b", "\x00"} {
		_, _, got := i.Get(key)
		_, _, copied := i.GetString(key, nil)
		for what, err := range map[string]error{
			"set": i.Set(key, "v"), "get": got, "get string": copied, "delete": i.Delete(key),
		} {
			if errs.Of(err) != errs.InfoKey {
				t.Errorf("%s with a key of %d bytes: %v", what, len(key), err)
			}
		}
	}
	for _, value := range []string{most + "v", "a\x00b"} {
		if err := i.Set("k", value); errs.Of(err) != errs.InfoValue {
			t.Errorf("a value of %d bytes: %v", len(value), err)
		}
	}
	if i.Len() != 2 {
		t.Errorf("what was refused left %d keys", i.Len())
	}
}

// TestGetString has buffers of all lengths.
func TestGetString(t *testing.T) {
	i := new(Info)
	must(t, i.Set("k", "value"))
	for n := range 9 {
		buf := []byte("CCCCCCCC")[:n]
		need, ok, err := i.GetString("k", buf)
		if need != 6 || !ok || err != nil {
			t.Errorf("%d bytes: %d, %t, %v", n, need, ok, err)
		}
		want := []string{"", "\x00", "v\x00", "va\x00", "val\x00", "valu\x00", "value\x00", "value\x00C", "value\x00CC"}[n]
		if string(buf) != want {
			t.Errorf("%d bytes: %q, want %q", n, buf, want)
		}
	}
	buf := []byte("C")
	if need, ok, err := i.GetString("none", buf); need != 0 || ok || err != nil || buf[0] != 'C' {
		t.Errorf("no key: %d, %t, %v, %q", need, ok, err, buf)
	}
}

// TestValues reads truth values, numbers and lists.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		text   string
		truth  string
		number string
		list   string
	}{
		{"true", "true true", "0 false", `["true"] true`},
		{" false\t", "false true", "0 false", `["false"] true`},
		{"True", "false false", "0 false", `["True"] true`},
		{" -17 ", "false false", "-17 true", `["-17"] true`},
		{"+4", "false false", "4 true", `["+4"] true`},
		{"9223372036854775808", "false false", "0 false", `["9223372036854775808"] true`},
		{"0x4", "false false", "0 false", `["0x4"] true`},
		{" a , b,,c", "false false", "0 false", `["a" "b" "" "c"] true`},
		{" ", "false false", "0 false", `[] true`},
		{"", "false false", "0 false", `[] true`},
	} {
		i := new(Info)
		must(t, i.Set("k", c.text))
		truth, ok1 := i.Bool("k")
		number, ok2 := i.Int("k")
		list, ok3 := i.listPairs("k")
		if got := fmt.Sprint(truth, ok1); got != c.truth {
			t.Errorf("%q as a truth value: %s", c.text, got)
		}
		if got := fmt.Sprint(number, ok2); got != c.number {
			t.Errorf("%q as a number: %s", c.text, got)
		}
		if got := fmt.Sprintf("%q %t", list, ok3); got != c.list {
			t.Errorf("%q as a list: %s", c.text, got)
		}
	}
	i := new(Info)
	_, ok1 := i.Bool("k")
	_, ok2 := i.Int("k")
	if list, ok3 := i.listPairs("k"); ok1 || ok2 || ok3 || list != nil {
		t.Error("a key that does not exist has a value")
	}
}

// TestEnv has all keys of the standard, and leaves out what is not known or too long.
func TestEnv(t *testing.T) {
	full := Start{
		Command: "prog", Args: []string{"-a", "b c"}, MaxProcs: 4, Soft: "2:4", Host: "h", Arch: "amd64", Dir: "/tmp",
		File: "f", ThreadLevel: "MPI_THREAD_SINGLE",
	}
	var got []string
	for key, value := range Env(full).allPairs() {
		got = append(got, key+"="+value)
	}
	want := "command=prog argv=-a b c maxprocs=4 soft=2:4 host=h arch=amd64 wdir=/tmp file=f " +
		"thread_level=MPI_THREAD_SINGLE"
	if strings.Join(got, " ") != want {
		t.Errorf("got %q", got)
	}
	if n := Env(Start{MaxProcs: -1}).Len(); n != 0 {
		t.Errorf("of nothing %d keys are known", n)
	}
	long := Start{Command: "prog", Args: []string{strings.Repeat("x", maxVal)}}
	if i := Env(long); i.Len() != 1 || i.findKey("argv") >= 0 {
		t.Errorf("arguments that are too long are there: %v", i.pairs)
	}
}

// FuzzSet sets any key to any value, and reads it in all ways.
func FuzzSet(f *testing.F) {
	f.Add("key", "true")
	f.Add("k\x00", " 12 , 5")
	f.Fuzz(func(t *testing.T, key, value string) {
		i := new(Info)
		err := i.Set(key, value)
		if fits := checkKey(key) == nil && checkValue(key, value) == nil; fits != (err == nil) {
			t.Fatalf("%q to %q: %v", key, value, err)
		}
		got, ok, _ := i.Get(key)
		if ok != (err == nil) || ok && got != value {
			t.Errorf("%q is %q, want %q", key, got, value)
		}
		truth, isTruth := i.Bool(key)
		number, isNumber := i.Int(key)
		parts, isList := i.listPairs(key)
		if !isTruth && truth || !isNumber && number != 0 || isList != ok || isTruth && isNumber {
			t.Errorf("%q is %t, %d and %q", value, truth, number, parts)
		}
	})
}
