# Calls by SOAP::Lite, with names, order and types from the WSDL; see soap-driver.ts for the lines it reads and prints.
use strict;
use warnings;
use JSON::PP ();
use LWP::UserAgent;
use MIME::Base64 qw(decode_base64 encode_base64);
use SOAP::Lite;
use SOAP::Lite::Deserializer::XMLSchema2001;
use XML::LibXML;
use XML::LibXML::XPathContext;

$| = 1;
my ($address, $version, $style) = @ARGV;
my $json = JSON::PP->new->utf8->canonical;

my $wsdl = XML::LibXML::XPathContext->new(XML::LibXML->load_xml(string => fetched($address)));
$wsdl->registerNs(w => 'http://schemas.xmlsoap.org/wsdl/');
$wsdl->registerNs(s => 'http://www.w3.org/2001/XMLSchema');
my $namespace = $wsdl->findvalue('/w:definitions/@targetNamespace');
my $endpoint = $wsdl->findvalue('//w:port/*/@location');
SOAP::Lite->soapversion($version); # of the class: an object alone keeps the namespaces of its class
my $soap = SOAP::Lite->proxy($endpoint)->encoding('utf-8')->autotype($style eq 'encoded');
$soap->serializer->attr({}) if $version eq '1.2'; # encodingStyle on the Envelope, which SOAP 1.2 Part 1 §5.1.1 forbids
$soap->serializer->register_ns($namespace, 'tns');
$soap->on_action(sub { qq("$namespace/$_[1]") });

# Octets of an answer stay base64, as JSON has them.
{ no warnings 'redefine', 'once'; *SOAP::Lite::Deserializer::XMLSchema2001::as_base64Binary = sub { $_[1] }; }

sub fetched {
    my $got = LWP::UserAgent->new->get(shift);
    die $got->status_line unless $got->is_success;
    return $got->content;
}

# What is inside an operation's request: the parts of RPC or the elements of a sequence.
sub declared {
    my $operation = shift;
    return $wsdl->findnodes("//s:schema/s:element[\@name='$operation']/s:complexType/s:sequence/s:element") if $style eq 'document';
    return $wsdl->findnodes("//w:message[\@name='${operation}Input']/w:part");
}

# The named type of a declaration, or the one inside of it.
sub type {
    my $declaration = shift;
    my $name = $declaration->getAttribute('type') or return ('', $wsdl->findnodes('s:complexType', $declaration));
    return ($name, $name =~ /^tns:(.*)/ ? $wsdl->findnodes("//s:schema/s:complexType[\@name='$1']") : undef);
}

sub data {
    my ($declaration, $value) = @_;
    my $name = $declaration->getAttribute('name');
    my ($type, $definition) = type($declaration);
    if ($definition) {
        if (my ($array) = $wsdl->findnodes('.//@w:arrayType | .//@w:itemType', $definition)) {
            my ($local) = $array->value =~ /^tns:(\w+)/;
            my ($of) = $wsdl->findnodes("//s:schema/s:complexType[\@name='$local']");
            my @items = map { SOAP::Data->name(item => \SOAP::Data->value(inside($of, $_)))->type("tns:$local") } @$value;
            return SOAP::Data->name($name => \@items);
        }
        my $data = SOAP::Data->name($name => \SOAP::Data->value(inside($definition, $value)));
        return $style eq 'encoded' ? $data->type($type) : $data;
    }
    # SOAP::Lite makes base64 of octets whose type says so; JSON has them as base64 already.
    $value = decode_base64($value) if $style eq 'encoded' && $type eq 'xs:base64Binary';
    return SOAP::Data->name($name => $value)->type($type =~ /^xs:(.*)/ ? $1 : 'string') if $style eq 'encoded';
    return SOAP::Data->name($name => SOAP::Utils::encode_data($value)); # without a type it is written as it is
}

sub inside {
    my ($definition, $value) = @_;
    return map {
        my $each = $value->{$_->getAttribute('name')};
        my $declaration = $_;
        defined $each ? map { data($declaration, $_) } (ref $each eq 'ARRAY' && $style ne 'encoded' ? @$each : $each) : ();
    } $wsdl->findnodes('s:sequence/s:element', $definition);
}

# A document as names and values: SOAP::SOM's own hash keeps the last of several elements alone.
sub tree {
    my ($som, $path) = @_;
    my @children = $som->dataof("$path/[>0]") or return $som->valueof($path);
    my %tree;
    for my $i (1 .. @children) {
        my $name = $children[$i - 1]->name;
        my $value = tree($som, "$path/[$i]");
        push @{$tree{$name}}, $value;
    }
    return {map { $_ => @{$tree{$_}} > 1 ? $tree{$_} : $tree{$_}[0] } keys %tree};
}

# Values as JSON has them: SOAP::Lite blesses each into the name of its type.
sub plain {
    my $value = shift;
    return [map { plain($_) } @$value] if UNIVERSAL::isa($value, 'ARRAY');
    return {map { $_ => plain($value->{$_}) } keys %$value} if UNIVERSAL::isa($value, 'HASH');
    return $value;
}

# The accessors of SOAP::SOM for faults know the structure of SOAP 1.1 alone.
sub fault {
    my $som = shift;
    my $fault = plain($som->fault);
    return {code => $fault->{faultcode}, reason => $fault->{faultstring}, detail => $json->encode($fault->{detail})}
        if $version eq '1.1';
    return {code => $fault->{Code}{Value}, reason => $fault->{Reason}{Text}, detail => $json->encode($fault->{Detail})};
}

while (my $line = <STDIN>) {
    my $asked = $json->decode($line);
    my ($operation, $input) = @$asked{qw(operation input)};
    $soap->transport->proxy->default_header(Authorization => 'Basic ' . encode_base64("$asked->{as}:$asked->{password}", ''));
    my @values = map { defined $input->{$_->getAttribute('name')} ? data($_, $input->{$_->getAttribute('name')}) : () } declared($operation);
    my $said = eval {
        my $method = $style eq 'document'
            ? SOAP::Data->name($operation)->attr({xmlns => $namespace})
            : SOAP::Data->name("tns:$operation");
        $method = $method->attr({"$SOAP::Constants::PREFIX_ENV:encodingStyle" => $SOAP::Constants::NS_ENC})
            if $style eq 'encoded' && $version eq '1.2';
        my $som = $soap->call($method, @values);
        return {output => {}} unless ref $som;
        return {fault => fault($som)} if $som->fault;
        return {output => $style eq 'encoded' ? plain($som->valueof('/Envelope/Body/[1]')) : tree($som, '/Envelope/Body/[1]')};
    } || {error => "$@"};
    print $json->encode($said), "\n";
}
