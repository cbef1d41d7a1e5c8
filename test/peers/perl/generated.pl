# Calls by SOAP::WSDL through the classes that it makes; see soap-driver.ts for the lines it reads and prints.
use strict;
use warnings;
use JSON::PP ();
use MIME::Base64 qw(encode_base64);
use XML::LibXML;

my ($folder, $address) = @ARGV;
unshift @INC, $folder;
require Stubs::interface::OrdersService::OrdersSoap11;

$| = 1;
my $json = JSON::PP->new->utf8->canonical;
my $client = Stubs::interface::OrdersService::OrdersSoap11->new({proxy => $address =~ s/\?.*//r});

# It has no classes for what is in the detail of a fault, and says so with the message that it could not read.
sub fault {
    my $reason = shift;
    my ($message) = $reason =~ /Message was: \n(.*)/s or return {error => $reason};
    my ($fault) = XML::LibXML->load_xml(string => $message)->findnodes('//*[local-name() = "Fault"]');
    my %content = map { $_->localname => $_->localname eq 'detail' ? $_->toString : $_->textContent } $fault->findnodes('*');
    return {fault => {code => $content{faultcode}, reason => $content{faultstring}, detail => $content{detail}}};
}

while (my $line = <STDIN>) {
    my $asked = $json->decode($line);
    my ($operation, $input) = @$asked{qw(operation input)};
    $client->get_transport()->default_header(Authorization => 'Basic ' . encode_base64("$asked->{as}:$asked->{password}", ''));
    my $said = eval {
        my $answer = $client->$operation($input);
        return {output => {}} unless defined $answer && "$answer" ne '';
        return {output => $answer->as_hash_ref()} unless $answer->isa('SOAP::WSDL::SOAP::Typelib::Fault11');
        return fault('' . $answer->get_faultstring());
    } || {error => "$@"};
    print $json->encode($said), "\n";
}
