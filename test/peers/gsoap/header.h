// A block that no service knows, to be marked as mandatory.
//gsoap x schema namespace: urn:example:unknown
mutable struct SOAP_ENV__Header { mustUnderstand char *x__Unknown; };
