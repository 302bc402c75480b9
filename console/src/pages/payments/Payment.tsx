export { Component } from '../NotFound';
