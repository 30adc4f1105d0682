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
	have, err := readBodies(filepath.Join(root, "mpi", "capi"))
	if err != nil {
		return nil, err
	}
	table, err := writeTable(t, have)
	return map[string][]byte{
		"internal/abi/mpi.h":    t.Header(),
		"mpi/capi/table_gen.h":  table,
		"mpi/capi/names_gen.h":  handleNames(t),
		"mpi/capi/errors_gen.h": errorTexts(t),
		"mpi/capi/types_gen.h":  typeTable(),
		"mpi/capi/tool_gen.h":   toolTables(),
	}, err
}

// readBodies finds what the C files of a directory have of functions.
func readBodies(dir string) (map[string]body, error) {
	var texts [][]byte
	for _, pattern := range []string{"*.c", "*_table.h"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			texts = append(texts, text)
		}
	}
	return bodies(texts...)
}
