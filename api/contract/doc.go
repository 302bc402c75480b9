// Package contract checks requests against the OpenAPI document: the compiled operations with their access, limits and
// deadlines, the validation of parameters and bodies, the reading of JSON and of multipart/form-data, and merge patches.
package contract
