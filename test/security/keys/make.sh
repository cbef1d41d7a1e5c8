#!/bin/sh
# Makes the keys and certificates of the tests anew: test-only, trusted by nobody, valid for fifty years.
set -e
cd "$(dirname "$0")"
days=18250
key() { case $2 in rsa) openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "test-only-$1.key.pem" ;; *) openssl genpkey -quiet -algorithm EC -pkeyopt "ec_paramgen_curve:$2" -out "test-only-$1.key.pem" ;; esac; }
root() { openssl req -x509 -new -key "test-only-$1.key.pem" -subj "/O=Diglot tests/CN=$2" -days $days -sha256 -addext "$3" -addext "keyUsage=critical,keyCertSign,cRLSign,digitalSignature" -out "test-only-$1.cert.pem"; }
# issue NAME CN ISSUER EXTENSIONS [OPTIONS]
issue() {
  name=$1; cn=$2; by=$3; ext=$4; options=${5:--days $days}
  openssl req -new -key "test-only-$name.key.pem" -subj "/O=Diglot tests/CN=$cn" -out request.tmp
  printf '%b' "subjectKeyIdentifier=hash\n$ext" > extensions.tmp
  # shellcheck disable=SC2086 # options are words
  openssl x509 -req -in request.tmp -CA "test-only-$by.cert.pem" -CAkey "test-only-$by.key.pem" -set_serial "0x7$(openssl rand -hex 11)" -extfile extensions.tmp $options -out "test-only-$name.cert.pem" 2>/dev/null
  rm request.tmp extensions.tmp
}
signs='keyUsage=critical,digitalSignature'
key ca rsa; root ca 'Test CA' basicConstraints=critical,CA:TRUE
key stranger rsa; root stranger 'Stranger' basicConstraints=critical,CA:TRUE
key alice rsa; issue alice 'alice, "A"' ca "$signs"
key bob rsa; issue bob bob ca 'keyUsage=critical,keyEncipherment'
key p256 P-256; issue p256 p256 ca "$signs"
key p384 P-384; issue p384 p384 ca "$signs"
key p521 P-521; issue p521 p521 ca "$signs"
key expired rsa; issue expired expired ca "$signs" "-days -1"
key critical rsa; issue critical critical ca "$signs\n1.2.3.4=critical,ASN1:NULL"
key sha1 rsa; issue sha1 sha1 ca "$signs" "-days $days -sha1"
key between rsa; issue between 'Between CA' ca 'basicConstraints=critical,CA:TRUE,pathlen:0\nkeyUsage=critical,keyCertSign'
key leaf rsa; issue leaf leaf between "$signs"
key below rsa; issue below 'Below CA' between 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign'
key deep rsa; issue deep deep below "$signs"
key child rsa; issue child child alice "$signs"
# what looks like a path and is none: the name of the authority with another key, and its key with another name
key impostor rsa; root impostor 'Test CA' basicConstraints=critical,CA:TRUE
key forged rsa; issue forged forged impostor "$signs\nauthorityKeyIdentifier=none"
cp test-only-ca.key.pem test-only-renamed.key.pem; root renamed 'Renamed CA' basicConstraints=critical,CA:TRUE
key plain rsa; issue plain plain ca ''
key ofplain rsa; issue ofplain ofplain plain "$signs"
key notca rsa; issue notca notca ca 'basicConstraints=critical,CA:FALSE'
key ofnotca rsa; issue ofnotca ofnotca notca "$signs"
key odd rsa; issue odd 'Odd CA' ca 'basicConstraints=critical,CA:TRUE\n1.2.3.4=critical,ASN1:NULL'
key ofodd rsa; issue ofodd ofodd odd "$signs"
key k1 secp256k1; issue k1 k1 ca "$signs"
key fake rsa; root fake 'Between CA' basicConstraints=critical,CA:TRUE
key offake rsa; issue offake offake fake "$signs\nauthorityKeyIdentifier=none"
key nosign rsa; issue nosign 'No signing CA' ca 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,cRLSign'
key ofnosign rsa; issue ofnosign ofnosign nosign "$signs"
