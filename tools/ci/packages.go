package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// Packages is what the packages of the module at the root of a tree are built from.
type Packages struct {
	tree *Tree
	all  map[string]*goPackage // by import path; "rihla/x.test" is the test of rihla/x
}

type goPackage struct {
	ImportPath      string   `json:"ImportPath"`
	Dir             string   `json:"Dir"`
	Deps            []string `json:"Deps"`
	ForTest         string   `json:"ForTest"`
	EmbedFiles      []string `json:"EmbedFiles"`
	TestEmbedFiles  []string `json:"TestEmbedFiles"`
	XTestEmbedFiles []string `json:"XTestEmbedFiles"`
	TestGoFiles     []string `json:"TestGoFiles"`
	XTestGoFiles    []string `json:"XTestGoFiles"`
	Standard        bool     `json:"Standard"`
}

// ReadPackages lists all packages of the module.
func ReadPackages(ctx context.Context, tree *Tree) (*Packages, error) {
	text, err := output(ctx, tree.Root, "go", "list", "-test", "-deps",
		"-json=ImportPath,Dir,Deps,ForTest,EmbedFiles,TestEmbedFiles,XTestEmbedFiles,TestGoFiles,XTestGoFiles,Standard", "./...")
	if err != nil {
		return nil, err
	}

	p := &Packages{tree: tree, all: map[string]*goPackage{}}

	for packages := json.NewDecoder(strings.NewReader(text)); ; {
		one := &goPackage{}

		switch err := packages.Decode(one); {
		case errors.Is(err, io.EOF):
			return p, nil
		case err != nil:
			return nil, err
		case !one.Standard && strings.HasPrefix(one.Dir, tree.Root):
			p.all[one.ImportPath] = one
		}
	}
}

// Tested lists the packages that have tests, as "./dir", sorted.
func (p *Packages) Tested() []string {
	var dirs []string

	for name, one := range p.all {
		if !strings.ContainsAny(name, " ") && len(one.TestGoFiles)+len(one.XTestGoFiles) > 0 {
			dirs = append(dirs, p.dir(one))
		}
	}

	slices.Sort(dirs)

	return dirs
}

func (p *Packages) dir(one *goPackage) string {
	rel, err := filepath.Rel(p.tree.Root, one.Dir)
	if err != nil || rel == "." {
		return "."
	}

	return "./" + filepath.ToSlash(rel)
}

// Program lists the files that a program is built from.
func (p *Packages) Program(dir string) ([]string, error) {
	one := p.at(dir)
	if one == nil {
		return nil, fmt.Errorf("no package in %s", dir)
	}

	return p.files(append(slices.Clone(one.Deps), one.ImportPath)), nil
}

// Test lists the files that the test of a package is built from, and all others that are in its directory and below it up to the next
// package, which it may read.
func (p *Packages) Test(dir string) ([]string, error) {
	one := p.at(dir)
	if one == nil {
		return nil, fmt.Errorf("no package in %s", dir)
	}

	test := p.all[one.ImportPath+".test"]
	if test == nil {
		return nil, fmt.Errorf("no tests in %s", dir)
	}

	files := p.files(test.Deps)
	below := strings.TrimPrefix(strings.TrimPrefix(dir, "."), "/")

	for _, name := range p.tree.Select([]string{below + "/"}) {
		if p.owner(name) == below {
			files = append(files, name)
		}
	}

	slices.Sort(files)

	return slices.Compact(files), nil
}

// owner is the directory of the package that a file belongs to: its own, or the nearest above it.
func (p *Packages) owner(name string) string {
	for dir := filepath.ToSlash(filepath.Dir(name)); dir != "."; dir = filepath.ToSlash(filepath.Dir(dir)) {
		if p.at("./"+dir) != nil {
			return dir
		}
	}

	return "."
}

func (p *Packages) at(dir string) *goPackage {
	dir = filepath.Join(p.tree.Root, filepath.FromSlash(dir))

	for name, one := range p.all {
		if one.Dir == dir && one.ForTest == "" && !strings.HasSuffix(name, ".test") {
			return one
		}
	}

	return nil
}

// files lists what packages are built from: what is in their directories, tests excepted, and what they embed.
func (p *Packages) files(imports []string) []string {
	names := []string{"go.mod", "go.sum"}

	for _, name := range imports {
		name, _, _ = strings.Cut(name, " ") // "rihla/x [rihla/x.test]" is rihla/x, compiled for a test

		one := p.all[name]
		if one == nil {
			continue
		}

		dir, err := filepath.Rel(p.tree.Root, one.Dir)
		if err != nil {
			continue
		}

		dir = filepath.ToSlash(dir)
		names = append(names, p.inDirectory(dir)...)

		for _, embedded := range slices.Concat(one.EmbedFiles, one.TestEmbedFiles, one.XTestEmbedFiles) {
			names = append(names, filepath.ToSlash(filepath.Join(dir, embedded)))
		}
	}

	slices.Sort(names)

	return slices.Compact(names)
}

func (p *Packages) inDirectory(dir string) []string {
	pattern := dir + "/*"
	if dir == "." {
		pattern = "*.go"
	}

	var names []string

	for _, name := range p.tree.Select([]string{pattern}) {
		if !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(name, ".md") {
			names = append(names, name)
		}
	}

	return names
}
