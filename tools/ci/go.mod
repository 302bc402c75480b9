module rihla/tools/ci

go 1.26.6
