// Command gen writes the files that are made from the table of package abi.
//
//	go run ./mpi/internal/abigen         write them
//	go run ./mpi/internal/abigen -check  write nothing; fail if a file differs
package main

import (
	"bytes"
	"flag"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/golci/golci/internal/abi"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("gen: ")
	check := flag.Bool("check", false, "write nothing; fail if a file differs")
	dir := flag.String("dir", ".", "root of the module")
	flag.Parse()
	all, err := generate(*dir)
	if err != nil {
		log.Fatal(err)
	}
	bad := false
	for _, name := range slices.Sorted(maps.Keys(all)) {
		path := filepath.Join(*dir, name)
		switch old, _ := os.ReadFile(path); {
		case bytes.Equal(old, all[name]):
		case *check:
			log.Printf("%s differs from what go run ./mpi/internal/abigen writes", name)
			bad = true
		default:
			if err := os.WriteFile(path, all[name], 0o644); err != nil {
				log.Fatal(err)
			}
		}
	}
	if bad {
		os.Exit(1)
	}
}

// generate gives the files by their paths in the module at root.
func generate(root string) (map[string][]byte, error) {
	t, err := abi.Load()
	if err != nil {
		return nil, err
	}
	have, texts, err := readBodies(filepath.Join(root, "mpi", "capi"))
	if err != nil {
		return nil, err
	}
	coll := collBodies(t, have)
	text, err := shim(t, have)
	return map[string][]byte{
		"internal/abi/mpi.h":    t.Header(),
		"mpi/capi/coll_gen.h":   coll,
		"mpi/capi/shim_gen.h":   text,
		"mpi/capi/calls_gen.h":  calls(t, append(texts, coll)...),
		"mpi/capi/names_gen.h":  handleNames(t),
		"mpi/capi/errors_gen.h": errorTexts(t),
		"mpi/capi/types_gen.h":  typeTable(),
		"mpi/capi/tool_gen.h":   toolTables(),
	}, err
}

// readBodies finds the functions that the C files of a directory define. texts are the files.
func readBodies(dir string) (have map[string]bool, texts [][]byte, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.c"))
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, nil, err
		}
		texts = append(texts, text)
	}
	have, err = bodies(texts...)
	return have, texts, err
}
