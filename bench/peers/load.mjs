// Finds the peers: a module that is imported from here is found in this folder's own node_modules.

/** @param {string} name */
export const loadPeer = (name) => import(name)
