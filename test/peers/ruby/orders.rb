# Calls by soap4r from the WSDL alone; see soap-driver.ts for the lines it reads and prints.
require 'json'
require 'soap/wsdlDriver'

wsdl, _version, style = ARGV
$stdout.sync = true

# It sets the encoding of a source that REXML has begun to read, which newer versions of REXML do not survive.
class XSD::XMLParser::REXMLParser
  def do_parse(source)
    @charset = 'utf-8'
    REXML::Document.parse_stream(source.force_encoding('UTF-8'), self)
  end
end

$client = SOAP::WSDLDriverFactory.new(wsdl).create_rpc_driver

# With net/http it cannot send credentials by itself.
module Credentials
  def post(url, content, fields = {})
    super(url, content, fields.merge('Authorization' => "Basic #{[$credentials].pack('m0')}"))
  end
end
SOAP::NetHttpClient.prepend(Credentials)

$parts = REXML::XPath.match(REXML::Document.new(Net::HTTP.get(URI(wsdl))), '//wsdl:message').to_h do |message|
  [message.attributes['name'], message.elements.collect { |part| part.attributes['name'] }]
end

# In RPC the parts are arguments by position, and so are the results, if there are several.
def call(operation, input, style)
  return plain($client.send(operation, input)) if style == 'document'
  answer = plain($client.send(operation, *$parts["#{operation}Input"].map { |name| input[name] }))
  names = $parts["#{operation}Output"] || []
  names.size > 1 && answer.is_a?(Array) ? names.zip(answer).to_h : answer
end

def text(element)
  element.respond_to?(:text) ? element.text : element.to_s
end

def plain(value)
  case value
  when SOAP::Mapping::Object then value.__xmlele.to_h { |name, each| [name.name, plain(each)] }
  when Array then value.map { |each| plain(each) }
  when nil, Integer, true, false then value
  when Hash then value.transform_values { |each| plain(each) }
  else value.to_s
  end
end

while (line = $stdin.gets)
  asked = JSON.parse(line)
  said = begin
    $credentials = "#{asked['as']}:#{asked['password']}"
    input = asked['input']
    # base64Binary is octets to it, and JSON has none. In an answer to document style it stays text.
    input['picture'] = input['picture'].unpack1('m') if input['picture']
    output = call(asked['operation'], input, style) || {}
    output['picture'] = [output['picture']].pack('m0') if style != 'document' && output.is_a?(Hash) && output['picture']
    { output: output }
  rescue SOAP::FaultError => fault
    { fault: { code: text(fault.faultcode), reason: text(fault.faultstring), detail: JSON.generate(plain(fault.detail)) } }
  rescue StandardError => failure
    { error: "#{failure.class} #{failure.message} #{failure.backtrace.first(3)}" }
  end
  puts JSON.generate(said)
end
